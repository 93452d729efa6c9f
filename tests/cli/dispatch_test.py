# SPDX-License-Identifier: Apache-2.0
"""cudal1 dispatch: one kernel file of several, each at its own sizes."""
import unittest

from fixture import CliTest

SIM = ("--device", "sim")
TASK = """\
//@ task    triple
//@ torch   C = A * 3
//@ size    N = 1024
//@ size    N = 1048576
//@ check   N = 1003
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  triple<<<ceil_div(N, 32), 32>>>(A, C, N)

__global__ void triple(const float* A, float* C, int N) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < N) C[i] = 3 * A[i];
}
"""
# One launch, but a block alone; and all of the GPU, but a launch more.
ALONE = """\
//@ launch  triple<<<1, 1024>>>(A, C, N)
#define STEP 1024
extern "C" __global__ void triple(const float* A, float* C, int N) {
  for (int i = threadIdx.x; i < N; i += STEP) C[i] = 3 * A[i];
}
"""
WIDE = """\
//@ tune    BLOCK = 256 | 512
//@ scratch factor: float32[1]
//@ launch  prepare<<<1, 1>>>(factor)
//@ launch  triple<<<ceil_div(N, BLOCK), BLOCK>>>(A, factor, C, N)
#define STEP 3
__global__ void prepare(float* factor) { *factor = STEP; }
__global__ void triple(const float* A, const float* factor, float* C, int N) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < N) C[i] = *factor * A[i];
}
"""


class Dispatch(CliTest):
    def setUp(self):
        super().setUp()
        for name, text in (("task.cu", TASK), ("alone.cu", ALONE), ("wide.cu", WIDE)):
            self.write(name, text)

    def test_each_variant_gets_the_sizes_where_it_is_the_fastest(self):
        made = self.run_cli("dispatch", "task.cu", "wide.cu", "alone.cu", *SIM, "-o", "best.cu", "--json").json()
        self.assertTrue(made["wins"])
        self.assertEqual({one["variant"]: one["when"] for one in made["choice"]}, {"alone.cu": "N <= 32768", "wide.cu": "N > 32768"})
        scores = [one["judgement"]["predicted_speedup"]["value"] for one in made["variants"]]
        self.assertGreater(scores[2], max(scores[:2]))
        self.assertEqual(made["variants"][2]["judgement"]["level"], "final")
        best = (self.work / "best.cu").read_text()
        self.assertIn("namespace sizes1", best)
        self.assertIn("if (cudal1_status == cudaSuccess && (N <= 32768", best)
        again = self.run_cli("verify", "task.cu", "best.cu", *SIM, "--json").json()["variants"][0]["judgement"]
        self.assertIn(again["verdict"], ("PREDICTED_FASTER", "DROPPED", "PREDICTED_EQUIVALENT"))

    def test_there_is_none_where_one_is_the_fastest_everywhere(self):
        self.says(self.run_cli("dispatch", "task.cu", "task.cu", "alone.cu", "--set", "N=1024", *SIM, "-o", "best.cu", code=3), "no dispatcher")
        self.assertFalse((self.work / "best.cu").exists())


if __name__ == "__main__":
    unittest.main()
