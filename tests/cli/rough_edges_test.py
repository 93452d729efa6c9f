# SPDX-License-Identifier: Apache-2.0
"""What new users stumbled over: torch lines, sizes that do not fit, headers of the host, drafts that compile."""
import pathlib
import re
import unittest

from fixture import SOURCE, TASK, CliTest

SIM = ("--device", "sim")
COPY = """\
//@ torch   y = TORCH
//@ size    W = 64, H = 64
//@ check   W = 33, H = 20
//@ input   x: float32[H, W]
//@ output  y: float32[H, W]
//@ launch  copy<<<dim3(ceil_div(W, 32), H), 32>>>(x, y, W)
__global__ void copy(const float* x, float* y, int w) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < w) y[blockIdx.y * w + i] = x[blockIdx.y * w + i];
}
"""


class TorchLines(CliTest):
    def refused(self, line, *says, code=10):
        self.write("task.cu", COPY.replace("TORCH", line))
        self.refuses("verify", "task.cu", "task.cu", *SIM, "--quick", code=code, says=says)

    def test_a_function_of_an_unknown_module_is_named(self):
        self.refused("torch.fft.fft(x)", "torch.fft.fft is not known to the evaluator", "--no-oracle")

    def test_a_part_cannot_be_assigned_to(self):
        self.refused("x; y[0] = 1", "only a name can be assigned to", "torch.where")

    def test_shapes_are_shown_where_they_differ(self):
        self.refused("x.T", "gives y the shape [33, 20], but it is declared as [20, 33] (at W=33 H=20): [W, H] and [H, W]")

    def test_a_dimension_that_is_not_there_points_at_the_declaration(self):
        self.refused("torch.softmax(x, dim=2)", "task.cu:1:23: error: softmax: dim 2 is outside a tensor with 2 dimensions", "declared: x: [H, W]")

    def test_the_functions_are_listed(self):
        self.says(self.run_cli("help", "torch"), "F, which is torch.nn.functional:", "methods of tensors:", " softmax", "NO_ORACLE")


class Sizes(CliTest):
    def test_more_than_the_machine_has_is_refused_at_once(self):
        memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) * 1024
        self.write("task.cu", COPY.replace("TORCH", "x").replace("copy<<<dim3(ceil_div(W, 32), H), 32>>>(x, y, W)", "copy<<<dim3(1, 1), 32>>>(x, y, 32)"))
        self.refuses("verify", "task.cu", "task.cu", *SIM, "--set", "H=65536", "--set", f"W={memory // 65536 // 8}", code=10, says=["the buffers need", "use smaller sizes", "--set"])

    def test_a_kernel_without_an_end_is_stopped_at_the_run_limit(self):
        self.write("task.cu", COPY.replace("TORCH", "x"))
        self.write("endless.cu", COPY.replace("TORCH", "x").replace("if (i < w)", "volatile int go = 1; while (go) {}\n  if (i < w)"))
        self.says(self.run_cli("verify", "task.cu", "endless.cu", *SIM, "--quick", "--run-limit", "1", code=6), "TIMEOUT", "longer than 1 s")


SCAN = """\
//@ size    N = 4, M = 1024
//@ check   N = 4, M = 1024
//@ torch   y = torch.cumsum(x, dim=1)
//@ input   x: float32[N, M] ~ uniform(0, 1)
//@ output  y: float32[N, M]
//@ launch  scan<<<N, 1024>>>(x, y)
__global__ void scan(const float* x, float* y) {
  __shared__ double part[1024];
  int i = threadIdx.x;
  part[i] = x[blockIdx.x * 1024 + i];
  for (int step = 1; step < 1024; step *= 2) {
    __syncthreads();
    double before = i >= step ? part[i - step] : 0;
    __syncthreads();
    part[i] += before;
  }
  y[blockIdx.x * 1024 + i] = part[i];
}
"""
SEQUENTIAL = """\
//@ launch  scan<<<1, 32>>>(x, y, N, M)
__global__ void scan(const float* x, float* y, int n, int m) {
  if (threadIdx.x >= n) return;
  float sum = 0;
  for (int i = 0; i < m; ++i) y[threadIdx.x * m + i] = sum += x[threadIdx.x * m + i];
}
"""


class Bounds(CliTest):
    def test_an_ordinary_sum_is_right_beside_a_reference_that_is_nearly_exact(self):
        self.write("task.cu", SCAN)
        self.write("sequential.cu", SEQUENTIAL)
        self.says(self.run_cli("verify", "task.cu", "sequential.cu", *SIM, "--quick"), "right in")

    def test_a_refusal_gives_error_and_bound_and_names_the_way_out(self):
        self.write("task.cu", SCAN)
        self.write("off.cu", SEQUENTIAL.replace("sum += x", "sum += 1.0001f * x"))
        result = self.run_cli("verify", "task.cu", "off.cu", *SIM, "--quick", code=6)
        self.assertRegex(result.out, r"y\[\d+, \d+\] is [\d.]+, expected [\d.]+: .* is off by [\d.]+ times what rounding explains, at most [\d.]+ is right")
        self.says(result, "//@ tolerance = 1e-3")
        self.write("task.cu", SCAN.replace("//@ launch", "//@ tolerance = 1e-3\n//@ launch"))
        self.says(self.run_cli("verify", "task.cu", "off.cu", *SIM, "--quick"), "right in")


class Headers(CliTest):
    def test_what_nvcc_brings_along_needs_no_include(self):
        code = COPY.replace("TORCH", "x").replace("int i =", "static_assert(std::is_same<decltype(w), int>::value && std::numeric_limits<int>::max() > 0, \"\");\n  int i =")
        self.write("task.cu", code)
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--quick"), "right in")

    def test_cub_as_a_whole_stands_for_its_blocks_and_warps(self):
        self.write("task.cu", COPY.replace("TORCH", "x").replace("__global__", "#include <cub/cub.cuh>\n__global__").replace("int i =", "using Sum = cub::WarpReduce<float>;\n  int i ="))
        self.run_cli("compile", "task.cu", "--ptx", "task.ptx")


class Manual(CliTest):
    def test_every_command_stands_in_the_synopsis(self):
        page = (SOURCE / "man/cudal1.1.scd").read_text().split("# SYNOPSIS")[1].split("# DESCRIPTION")[0]
        commands = re.findall(r"(?m)^  ([a-z]+) {2,}", self.run_cli("--help").out)
        self.assertIn("sweep", commands)
        for command in commands:
            self.assertIn(f"*{command}*", page)

    def test_the_counters_of_the_json_have_names_in_the_manual(self):
        page = (SOURCE / "man/cudal1-json.5.scd").read_text().replace("\\_", "_")
        self.write("task.cu", TASK)
        judged = self.run_cli("bench", "task.cu", "task.cu", *SIM, "--quick", "--counters", "--json", code=3).json()
        names = judged["variants"][0]["judgement"]["counters"]
        self.assertGreater(len(names), 15)
        self.assertEqual([name for name in names if name not in page], [])
        facts = self.run_cli("devices", "--json").json()["simulated"][0]
        self.assertEqual([name for name in facts if name not in page], [])


class BuiltIn(CliTest):
    def test_counts_are_written_in_the_declared_type(self):
        self.write("hist.cu", """\
//@ torch   h = torch.nn.functional.one_hot(x.long(), BINS).sum(0)
//@ size    N = 4096, BINS = 32
//@ check   N = 100, BINS = 32
//@ input   x: int32[N] ~ randint(0, BINS)
//@ output  h: int32[BINS]
//@ launch  hist<<<1, BINS>>>(x, h, N)
__global__ void hist(const int* x, int* h, int n) {
  int c = 0;
  for (int i = 0; i < n; ++i) c += x[i] == threadIdx.x;
  h[threadIdx.x] = c;
}
""")
        self.says(self.run_cli("optimize", "hist.cu", *SIM, "--rounds", "1", "--samples", "1", "--no-repair"), "1 answer, 1 right")

    def test_a_loop_in_a_macro_is_left_alone(self):
        code = TASK.split("__global__")[0]
        self.write("task.cu", code + "#define SUM(n) \\\n  for (int k = 0; k < n; ++k) \\\n    s += k;\n__global__" + TASK.split("__global__", 1)[1].replace("{", "{\n  int s = 0;\n  SUM(4)\n  if (s < 0) return;", 1))
        result = self.run_cli("optimize", "task.cu", *SIM, "--rounds", "1", "--samples", "8", "--no-repair", "--json", "--allow-no-improvement")
        self.assertNotIn("expected a macro parameter name", result.out)
        self.assertNotIn("Plan: 0 launches", result.out)


if __name__ == "__main__":
    unittest.main()
