# SPDX-License-Identifier: Apache-2.0
"""What says what is right: the torch line, the task's own kernel in double precision, or its kernel alone."""
import unittest

from fixture import CliTest, reply

SIM = ("--device", "sim", "--quick")

# One accumulator for 4096 positive terms: its own error is near the bound that other orders of summing are held to.
NAIVE = """\
//@ task    row_total
//@ size    N = 8, M = 4096
//@ check   N = 8, M = 4096
//@ input   A: float32[N, M] ~ uniform(1, 2)
//@ output  S: float32[N]
//@ launch  total<<<1, 32>>>(A, S, N, M)
__global__ void total(const float* A, float* S, int N, int M) {
  int row = threadIdx.x;
  if (row >= N) return;
  float sum = 0;
  for (int i = 0; i < M; ++i) sum += A[row * M + i];
  S[row] = sum;
}
"""

TREE = """\
//@ launch  tree<<<N, 256>>>(A, S, M)
__global__ void tree(const float* A, float* S, int M) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < LAST; i += 256) sum += A[blockIdx.x * M + i];
  part[threadIdx.x] = sum;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) S[blockIdx.x] = part[0];
}
"""

SCALE = """\
//@ task    scale
//@ size    N = 4096
//@ check   N = 4096
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  scale<<<ceil_div(N, 64), 64>>>(A, C, N)
__global__ void scale(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] * 3.0f + 1.0f;
}
"""

LIBRARY = SCALE.replace("A[i] * 3.0f + 1.0f", "0.7f * logf(A[i] + 3.0f)").replace("A: float32[N]", "A: float32[N] ~ uniform(1, 2)")

# Its bits are no number that was computed, and integers are compared as they are.
COUNT = """\
//@ task    bits
//@ size    N = 256
//@ check   N = 40
//@ input   A: float32[N]
//@ output  C: int32[N]
//@ launch  bits<<<ceil_div(N, 64), 64>>>(A, C, N)
__global__ void bits(const float* A, int* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = __popc(__float_as_int(A[i]));
}
"""


class Oracle(CliTest):
    def test_the_own_kernel_in_double_precision_says_what_is_right(self):
        self.write("task.cu", NAIVE)
        self.write("tree.cu", TREE.replace("LAST", "M"))
        self.write("drops.cu", TREE.replace("LAST", "M - 1"))
        judged = self.run_cli("verify", "task.cu", "tree.cu", *SIM, "--json", "--require-oracle", "shadow").json()
        self.assertFalse(judged["oracle"])
        self.assertTrue(judged["shadow_oracle"])
        judgement = judged["variants"][0]["judgement"]
        self.assertIn("SHADOW_ORACLE", judgement["labels"])
        # The variant is nearer to the truth than the kernel that it is compared with, which nobody but the shadows can tell.
        errors = judgement["errors"]
        self.assertLess(1.2 * errors["relative_l2"], errors["reference_relative_l2"])
        result = self.run_cli("verify", "task.cu", "drops.cu", *SIM, code=6)
        self.says(result, "WRONG_RESULT", "SHADOW_ORACLE: the task's own kernel in double precision on the simulator")

    def test_an_error_beyond_rounding_is_seen_where_no_sum_explains_it(self):
        # Beside 4096 elements one might think of sums of 4096 terms, whose rounding explains five millionths.
        self.write("task.cu", SCALE)
        variant = "".join(line + "\n" for line in SCALE.splitlines() if not line.startswith(("//@ task", "//@ size", "//@ check", "//@ input", "//@ output")))
        self.write("same.cu", variant)
        self.write("off.cu", variant.replace("A[i] * 3.0f", "A[i] * 3.000015f"))
        self.says(self.run_cli("verify", "task.cu", "same.cu", *SIM), "right in", "SHADOW_ORACLE")
        self.says(self.run_cli("verify", "task.cu", "off.cu", *SIM, code=6), "WRONG_RESULT")

    def test_functions_of_the_library_and_decimals_are_what_they_mean(self):
        self.write("task.cu", LIBRARY)
        variant = "".join(line + "\n" for line in LIBRARY.splitlines() if not line.startswith(("//@ task", "//@ size", "//@ check", "//@ input", "//@ output")))
        self.write("wide.cu", variant.replace("0.7f * logf(A[i] + 3.0f)", "(float)(0.7 * log((double)A[i] + 3.0))"))
        self.write("off.cu", variant.replace("0.7f", "0.7000003f"))
        self.says(self.run_cli("verify", "task.cu", "task.cu", "wide.cu", *SIM), "task.cu: right in", "wide.cu: right in", "SHADOW_ORACLE")
        self.says(self.run_cli("verify", "task.cu", "off.cu", *SIM, code=6), "WRONG_RESULT")

    def test_of_doubles_alone_shadows_are_no_nearer_than_values(self):
        # Near 1 the arcsine moves by the square root of what its operand moves by.
        self.write("task.cu", LIBRARY.replace("float", "double").replace("0.7f * logf(A[i] + 3.0f)", "asin(sqrt(sin(A[i] / 3.0) * sin(A[i] / 3.0)))").replace("64[N]", "64[N]").replace("double32", "float64"))
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM), "right in")

    def test_the_report_says_it(self):
        self.write("task.cu", NAIVE)
        self.write("replies/r01-s01.md", reply(TREE.replace("LAST", "M")))
        self.run_cli("optimize", "task.cu", "--device", "sim", "--model", "replay:replies", "--rounds", "1", "--samples", "1", "--no-repair", "--out", "run")
        self.says(self.run_cli("report", "run"), "SHADOW_ORACLE: the task's own kernel in double precision")
        self.assertTrue(self.run_cli("report", "run", "--format", "json").json()["reference"]["shadow_oracle"])

    def test_without_any_float_there_is_no_shadow(self):
        self.write("task.cu", COUNT)
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM), "NO_ORACLE: the task has no torch line, and none of its outputs is computed from floats")
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--require-oracle", "shadow", code=10), "--require-oracle shadow", "write a torch line")

    def test_a_torch_line_that_cannot_be_evaluated_is_an_error(self):
        self.write("task.cu", NAIVE.replace("//@ size", "//@ torch   S = torch.summ(A, dim=1)\n//@ size"))
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, code=10), "task.cu:2: the torch line cannot be evaluated: torch.summ", "did you mean torch.sum?", "--no-oracle")
        self.says(self.run_cli("optimize", "task.cu", "--device", "sim", "--out", "run", code=10), "did you mean torch.sum?")
        self.assertFalse((self.work / "run").exists())
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--no-oracle"), "right in", "SHADOW_ORACLE")

    def test_a_pipeline_may_require_a_torch_line(self):
        self.write("task.cu", NAIVE)
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--require-oracle", "torch", code=10), "--require-oracle torch: the task has no torch line", "--require-oracle shadow")
        self.write("torch.cu", NAIVE.replace("//@ size", "//@ torch   S = A.sum(dim=1)\n//@ size"))
        self.says(self.run_cli("verify", "torch.cu", "torch.cu", *SIM, "--require-oracle", "torch"), "right in")


if __name__ == "__main__":
    unittest.main()
