# SPDX-License-Identifier: Apache-2.0
"""What the simulator says about a kernel, from the command line."""
import unittest

from fixture import FASTER, TASK, CliTest

SIM = ("--device", "sim", "--quick")

PRINTS = FASTER.replace("C[i] = A[i] + 1.0f;", 'C[i] = A[i] + 1.0f;\n  if (i % 256 == 0) printf("\\033[31mblock %d\\n", blockIdx.x);')
LAST_BLOCK = """\
//@ scratch part: float32[N * M]
//@ scratch done: int32[1] = 0
//@ launch  add_one<<<ceil_div(N * M, 256), 256>>>(A, C, part, done, N * M)

__global__ void add_one(const float* A, float* C, float* part, int* done, int n) {
  __shared__ bool last;
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) part[i] = A[i] + 1.0f;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(done, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) for (int k = threadIdx.x; k < n; k += 256) C[k] = part[k];
}
"""
SHARED_NAME = """\
//@ launch  add_one<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)

__device__ float add_one(float x) { return x + 1.0f; }
__global__ void add_one(const float* A, float* C, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) C[i] = add_one(A[i]);
}
"""
# Each in a kernel that is right otherwise; the body stands in line 6.
FAULTS = {
    "past the end of C": "C[i] = A[i] + 1.0f; if (i == n - 1) C[n] = 0;",
    "an integer is divided by zero": "C[i] = A[i] + 1.0f; if (n / (int)(A[i] * 0) == 12345) C[i] = 0;",
    "names lane 1, which is not here": "float v = A[i]; if (i % 2 == 0) v += __shfl_xor_sync(~0u, 0.0f, 1); C[i] = v + 1.0f;",
    "belong to no buffer: the address is null": "C[i] = A[i] + 1.0f; if (i == 0) *(volatile float*)nullptr = 0;",
}


class Simulator(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)

    def bench(self, name, source, *options, code=0):
        self.write(name, source)
        return self.run_cli("bench", "task.cu", name, *SIM, *options, code=code)

    def test_what_a_kernel_prints_stands_on_standard_error(self):
        result = self.bench("prints.cu", PRINTS)
        self.assertIn("prints.cu printed:\n[31mblock 0\n", result.err, f"\n{result}")
        self.assertNotIn("\033[31m", result.err)
        self.assertNotIn("block 0", result.out)
        self.assertEqual(result.err.count("printed:"), 1)
        self.assertNotIn("printed", self.bench("faster.cu", FASTER).err)

    def test_a_race_of_blocks_that_order_each_other_is_found(self):
        judgement = self.bench("last.cu", LAST_BLOCK, "--json").json()["variants"][0]["judgement"]
        self.assertEqual(judgement["sanitizer"], "passed")
        early = LAST_BLOCK.replace("  __threadfence();\n", "").replace("  if (last)", "  __threadfence();\n  if (last)")
        self.says(self.bench("early.cu", early, code=6), "line 13", "reads what another block writes", "nothing orders them")

    def test_a_kernel_that_shares_its_name_is_told_from_the_other_function(self):
        self.says(self.bench("shared.cu", SHARED_NAME), "shared.cu: right")
        self.bench("apart.cu", SHARED_NAME.replace("__device__", "namespace detail { __device__").replace("+ 1.0f; }", "+ 1.0f; } }")
                   .replace("add_one(A[i])", "detail::add_one(A[i])"))

    def test_parallelism_stands_among_the_counters(self):
        result = self.bench("faster.cu", FASTER, "--counters")
        self.says(result, "warps_active_share", "issue_active_share", "active lanes")
        hardware = self.bench("faster.cu", FASTER, "--json").json()["variants"][0]["judgement"]["hardware"]
        self.assertGreater(hardware["warps_active_share"], 0)
        self.assertLessEqual(hardware["warps_active_share"], 1)

    def test_faults_are_named_with_their_line(self):
        for words, body in FAULTS.items():
            with self.subTest(words):
                result = self.bench("faulty.cu", FASTER.replace("C[i] = A[i] + 1.0f;", "{\n    " + body + "\n  }"), code=6)
                self.says(result, "SANITIZER_FAILED", words, "at line 6,", "block (", "thread (")

    def test_an_unknown_instruction_is_told_with_its_place(self):
        result = self.bench("unknown.cu", FASTER.replace("C[i] = A[i] + 1.0f;", 'asm volatile("vadd.s32.s32.s32 %0, %0, 0;" : "+r"(i)); C[i] = A[i] + 1.0f;'), code=6)
        self.says(result, "UNSUPPORTED", 'sim does not know "vadd.s32.s32.s32" (unknown.cu:5)')

    def test_a_fault_of_the_tasks_own_kernel_has_its_place(self):
        self.write("broken.cu", TASK.replace("column < M;", "column <= M;"))
        self.refuses("bench", "broken.cu", "broken.cu", *SIM, code=10, says=["in add_one at line 11, block ("])


if __name__ == "__main__":
    unittest.main()
