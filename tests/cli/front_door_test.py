# SPDX-License-Identifier: Apache-2.0
"""What a new user meets first: ordinary CUDA files, commands that are printed to be given again, errors that scripts branch on."""
import contextlib
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import unittest

from fixture import BINARY, FASTER, TASK, WRONG, CliTest, reply

SIM = ("--device", "sim")
SHORT = ("--rounds", "1", "--samples", "1", "--no-repair")
PLAIN = """\
#include <cstdio>
__global__ void scale(const float* x, float* y, int n, float alpha) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i];
}
"""
GPU = pathlib.Path("/dev/nvidia0").exists()
BODIES = """\
//@ task    move
//@ size    N = 1000
//@ check   N = 37
//@ struct  Body = position: float32[3], id: int32, mass: float64, marked: uint8
//@ inout   bodies: Body[N] ~ id: randint(0, N), mass: uniform(1, 2)
//@ input   by: float32[N]
//@ output  far: Body[N]
//@ launch  move<<<ceil_div(N, 128), 128>>>(bodies, by, far, N)
struct Body { float position[3]; int id; double mass; unsigned char marked; };
__global__ void move(Body* bodies, const float* by, Body* far, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body b = bodies[i];
  for (int k = 0; k < 3; ++k) b.position[k] += by[i] * (float)b.mass;
  b.id += 1;
  bodies[i] = b;
  for (int k = 0; k < 3; ++k) b.position[k] *= 2;
  far[i] = b;
}
"""


def npy(values, kind="<i4", code="i"):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


class Table(unittest.TestCase):
    def test_every_row_names_tests_that_exist(self):
        tests = pathlib.Path(__file__).resolve().parents[1]
        cases = set()
        for source in (tests / "unit").rglob("*.cpp"):
            cases.update(re.findall(r'TEST_CASE\("([^"]*)"', source.read_text()))
        rows = re.findall(r"^\| ([HMLR]\d+) \| [^|]+ \| ([^|]+) \|$", (tests / "front_door.md").read_text(), re.MULTILINE)
        self.assertEqual([row for row, _ in rows], [f"{letter}{i}" for letter, count in (("H", 9), ("M", 17), ("L", 22), ("R", 7)) for i in range(1, count + 1)])
        for row, named in rows:
            methods, words = re.findall(r"`(\w+)\.(\w+)`", named), re.findall(r'"([^"]+)"', named)
            self.assertTrue(methods or words, row)
            for suite, method in methods:
                self.assertIn(f"    def {method}(", (tests / "cli" / f"{suite}_test.py").read_text(), row)
            for case in words:
                self.assertIn(case, cases, row)


class Drafts(CliTest):
    def test_an_ordinary_file_is_drafted_on_the_fly(self):
        self.write("plain.cu", PLAIN)
        result = self.run_cli("verify", "plain.cu", "plain.cu", *SIM, "--quick")
        self.says(result, "plain.cu is no kernel file: it is taken", "guessed: sizes n", "plain.cu is no kernel file: its launches are taken", "right in")
        self.write("other.cu", PLAIN.replace("alpha * x[i]", "2 * x[i]"))
        self.says(self.run_cli("verify", "plain.cu", "other.cu", *SIM, "--quick", code=6), "WRONG_RESULT")
        self.run_cli("init", "plain.cu", "-o", "task.cu")
        self.says(self.run_cli("verify", "plain.cu", "task.cu", *SIM, "--quick"), "right in", "SHADOW_ORACLE: the task's own kernel in double precision")
        self.says(self.run_cli("optimize", "plain.cu", *SIM, *SHORT, "--allow-no-improvement"), "plain.cu is no kernel file")

    def test_local_headers_are_put_in(self):
        self.write("common.h", "#pragma once\n#define BLOCK 128\nstruct __align__(8) Pair { float a, b; };\n__device__ inline float twice(float x) { return 2 * x; }\n")
        self.write("kernel.cuh", '#include "common.h"\n__global__ void k(const Pair* p, float* y, int n) {\n'
                                 "  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) y[i] = twice(p[i].a) + p[i].b;\n}\n")
        self.write("main.cu", '#include <cstdio>\n#include "common.h"\n#include "kernel.cuh"\n'
                              "int main() {\n  int n = 4096;\n  Pair* p; float* y;\n  cudaMalloc(&p, n * sizeof(Pair));\n"
                              "  cudaMalloc(&y, n * sizeof(float));\n  k<<<n / BLOCK, BLOCK>>>(p, y, n);\n}\n")
        self.run_cli("init", "main.cu", "-o", "task.cu")
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--quick"), "right in")

    def test_what_a_draft_lacks_is_said(self):
        self.write("far.cu", '#include "far/away.cuh"\n__global__ void logarithm(const float* x, float* y, int n) {\n'
                             "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = logf(x[i]);\n}\n")
        self.says(self.run_cli("init", "far.cu", "-o", "task.cu"), 'remark: #include "far/away.cuh" (line 1) was not found near the file: what it defines is missing here')
        self.refuses("verify", "task.cu", "task.cu", *SIM, "--quick", code=10, says=["y is not finite", "uniform(0.1, 1)"])

    def test_a_kernel_is_chosen_and_sizes_are_set(self):
        self.write("two.cu", PLAIN + PLAIN.replace("scale", "other"))
        drafted = self.run_cli("init", "two.cu", "--kernel", "other", "--set", "n=4096").out
        self.assertIn("//@ launch  other<<<ceil_div(n, 256), 256>>>(x, y, n, alpha)", drafted)
        self.assertIn("//@ size    n = 4096", drafted)
        self.refuses("init", "two.cu", "--kernel", "othr", code=2, says=["did you mean other"])
        self.refuses("init", "two.cu", "--set", "m=3", code=2, says=["no size \"m\""])

    def test_standard_input_is_a_file_too(self):
        self.assertIn("//@ launch  scale<<<", self.run_cli("init", "-", text_input=PLAIN).out)

    def test_what_is_no_source_has_its_own_words(self):
        self.write("empty.cu", "")
        self.refuses("init", "empty.cu", code=10, says=["the file is empty"])
        self.write("program.cu", pathlib.Path(BINARY).read_bytes()[:65536])
        self.refuses("init", "program.cu", code=10, says=["not a text file"])
        self.write("host.cu", "int main() { return 0; }\n")
        self.refuses("init", "host.cu", code=10, says=["no `__global__` function"])

    def test_the_next_command_can_be_pasted(self):
        self.write("plain.cu", PLAIN)
        self.says(self.run_cli("init", "plain.cu", "-o", "2D Stencil.cu"), "cudal1 optimize '2D Stencil.cu'")


class Tasks(CliTest):
    def test_bounds_follow_sizes(self):
        self.write("hist.cu", """\
//@ size    N = 4096, BINS = 32
//@ input   x: int32[N] ~ randint(0, BINS)
//@ inout   h: int32[BINS] ~ zeros
//@ launch  hist<<<ceil_div(N, 256), 256>>>(x, h, N)
__global__ void hist(const int* x, int* h, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&h[x[i]], 1);
}
""")
        self.says(self.run_cli("verify", "hist.cu", "hist.cu", *SIM, "--quick"), "right in")
        text = (self.work / "hist.cu").read_text()
        self.write("odd.cu", text.replace("BINS)", "BNS)"))
        self.refuses("verify", "odd.cu", "odd.cu", *SIM, code=10, says=["unknown name `BNS`", "did you mean `BINS`"])
        self.write("empty.cu", text.replace("randint(0, BINS)", "randint(BINS, 0)"))
        self.refuses("verify", "empty.cu", "empty.cu", *SIM, code=10, says=["low < high"])

    def test_a_sparse_matrix_and_further_values(self):
        self.write("spmv.cu", """\
//@ size    R = 512, C = 300, NNZ = 5000
//@ input   rows: int32[R + 1] ~ offsets(NNZ)
//@ input   cols: int32[NNZ] ~ randint(0, C)
//@ input   values: float32[NNZ] ~ normal(1, 0.25)
//@ input   x: float32[C] ~ sorted(0, C)
//@ input   order: uint32[R] ~ permutation
//@ input   first: float32[1] ~ constant(2.5)
//@ output  y: float32[R]
//@ launch  spmv<<<ceil_div(R, 128), 128>>>(rows, cols, values, x, order, first, y, R)
__global__ void spmv(const int* rows, const int* cols, const float* values, const float* x, const unsigned* order, const float* first, float* y, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum = first[0];
  for (int j = rows[i]; j < rows[i + 1]; ++j) sum += values[j] * x[cols[j]];
  y[order[i]] = sum;
}
""")
        self.says(self.run_cli("verify", "spmv.cu", "spmv.cu", *SIM, "--quick"), "right in")

    def test_structures_of_several_types(self):
        self.write("task.cu", BODIES)
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--quick"), "right in", "SHADOW_ORACLE")
        answer = "".join(line + "\n" for line in BODIES.splitlines() if not line.startswith("//@") or "launch" in line)
        # What pads a structure is nobody's.
        self.write("whole.cu", answer.replace("b.id += 1;", "b.id += 1; ((char*)&b)[25] = 9;"))
        self.says(self.run_cli("verify", "task.cu", "whole.cu", *SIM, "--quick"), "right in")
        for wrong, named in (("b.id += 2;", "bodies.id[0] is "), ("b.id += 1; b.mass *= 1.0000001;", "bodies.mass["), ("b.id += 1; b.position[1] = 0;", "bodies.position[0, 1] is 0"),
                             ("b.id += 1; b.marked ^= 1;", "bodies.marked[")):
            self.write("wrong.cu", answer.replace("b.id += 1;", wrong))
            self.says(self.run_cli("verify", "task.cu", "wrong.cu", *SIM, "--quick", code=6), "WRONG_RESULT", named)
        self.write("first.cu", answer.replace("far[i] = b;", "if (i < n - 1) far[i] = b;"))
        self.says(self.run_cli("verify", "task.cu", "first.cu", *SIM, "--quick", code=6), "far.position[")
        self.refuses("verify", "task.cu", "task.cu", *SIM, "--set", "N=-1", code=10)
        self.write("unknown.cu", BODIES.replace("~ id:", "~ speed:"))
        self.refuses("verify", "unknown.cu", "task.cu", *SIM, code=10, says=["Body has no member speed"])

    def test_sizes_of_a_file_are_not_varied(self):
        self.write("idx.npy", npy([i * 7 % 100 for i in range(1000)]))
        self.write("gather.cu", """\
//@ size    N = 1000, V = 100
//@ input   idx: int32[N] ~ file("idx.npy")
//@ input   x: float32[V]
//@ output  y: float32[N]
//@ launch  gather<<<ceil_div(N, 256), 256>>>(idx, x, y, N)
__global__ void gather(const int* idx, const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[idx[i]];
}
""")
        # V was varied, and its own values then lie outside: the tool says that it picked it, and how to settle it.
        self.refuses("verify", "gather.cu", "gather.cu", *SIM, "--quick", code=10, says=["picked", "//@ check N = 1000, V = 100"])
        text = (self.work / "gather.cu").read_text()
        self.write("settled.cu", text.replace("//@ input   idx", "//@ check   V = 100\n//@ input   idx"))
        self.says(self.run_cli("verify", "settled.cu", "settled.cu", *SIM, "--quick"), "right in")

    def test_picked_sizes_keep_to_what_the_launch_divides_by(self):
        self.write("tiles.cu", """\
//@ size    N = 256, M = 256
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  copy<<<dim3(M / 16, N / 16), dim3(16, 16)>>>(A, C, M)
__global__ void copy(const float* A, float* C, int m) {
  int i = (blockIdx.y * 16 + threadIdx.y) * m + blockIdx.x * 16 + threadIdx.x;
  C[i] = A[i] + 1;
}
""")
        self.says(self.run_cli("verify", "tiles.cu", "tiles.cu", *SIM, "--quick"), "right in")
        # Nor is a size varied that the code has as a constant, too.
        self.write("fixed.cu", """\
//@ size    N = 256
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  copy<<<1, 32>>>(A, C)
const int N = 1 << 8;
__global__ void copy(const float* A, float* C) {
  for (int i = threadIdx.x; i < N; i += 32) C[i] = A[i] + 1;
}
""")
        self.says(self.run_cli("verify", "fixed.cu", "fixed.cu", *SIM, "--quick"), "right in")

    def test_right_without_an_oracle_says_so(self):
        self.write("task.cu", TASK.replace("C = A + 1", "C = torch.nothing_known(A)"))
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--quick", code=10), "torch.nothing_known is not known to the evaluator", "--no-oracle")
        self.says(self.run_cli("verify", "task.cu", "task.cu", *SIM, "--quick", "--no-oracle"), "SHADOW_ORACLE")


    def test_what_a_kernel_rightly_ignores_is_no_degenerate_task(self):
        # Rows by their largest element: all of a recorded input times one factor gives the same again.
        self.write("x.npy", npy([(i * 37 % 101 - 50) / 8 for i in range(256)], "<f4", "f"))
        self.write("rows.cu", """\
//@ input   x: float32[256] ~ file("x.npy")
//@ output  y: float32[256]
//@ launch  rows<<<4, 64>>>(x, y)
__global__ void rows(const float* x, float* y) {
  float most = 0;
  for (int i = 0; i < 64; ++i) most = fmaxf(most, fabsf(x[blockIdx.x * 64 + i]));
  y[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x] / most;
}
""")
        self.assertNotIn("moves no output", self.run_cli("verify", "rows.cu", "rows.cu", *SIM, "--quick").err)
        # A maximum begins at 0, below whatever comes.
        self.write("most.cu", """\
//@ input   x: float32[128] ~ uniform(2, 9)
//@ inout   most: float32[128] ~ zeros
//@ launch  largest<<<1, 128>>>(x, most)
__global__ void largest(const float* x, float* most) {
  most[threadIdx.x] = fmaxf(most[threadIdx.x], x[threadIdx.x]);
}
""")
        self.says(self.run_cli("verify", "most.cu", "most.cu", *SIM, "--quick"), "INPUT_RANGE: what most holds at the start moves no output")


    def test_an_input_is_copied_into_constant_memory(self):
        task = """\
//@ task    taps
//@ torch   y = F.conv1d(x.view(1, 1, -1), w.view(1, 1, -1)).flatten()
//@ size    N = 4096
//@ check   N = 100
//@ input   x: float32[N]
//@ input   w: float32[3]
//@ output  y: float32[N - 2]
//@ copy    filter::taps = w
//@ launch  blur<<<ceil_div(N, 128), 128>>>(x, y, N - 2)
namespace filter { __constant__ float taps[3]; }
__global__ void blur(const float* x, float* y, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i] * filter::taps[0] + x[i + 1] * filter::taps[1] + x[i + 2] * filter::taps[2];
}
"""
        self.write("taps.cu", task)
        self.says(self.run_cli("verify", "taps.cu", "taps.cu", *SIM, "--quick"), "right in")
        self.write("without.cu", task.replace("//@ copy    filter::taps = w\n", ""))
        self.says(self.run_cli("verify", "taps.cu", "without.cu", *SIM, "--quick", code=6), "WRONG_RESULT")
        self.says(self.run_cli("plan", "taps.cu"), "copy     filter::taps = w")
        self.run_cli("optimize", "taps.cu", *SIM, *SHORT, "--allow-no-improvement", "-o", "out.cu")
        for change, says in (("taps[3]", "taps[4]"), "taps has 16 bytes, but w has 12"), (("copy    filter::taps", "copy    tap"), "did you mean `taps`?"), \
                            (("= w\n", "= y\n"), "y is no input"), (("//@ copy    filter::taps = w\n", ""), None):
            changed = task.replace(*change)
            if says is None:
                changed = changed.replace("namespace filter {", "//@ copy    filter::taps = w\nnamespace filter {")
            self.write("changed.cu", changed)
            self.refuses("verify", "changed.cu", "changed.cu", *SIM, "--quick", code=10, says=[says or "`copy` comes before the first launch"])


class Commands(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        for key, code in (("r01-s01", FASTER), ("r01-s02", FASTER)):
            self.write(f"replies/{key}.md", reply(code))
        tools = self.work / "tools"
        tools.mkdir()
        (tools / "cudal1").symlink_to(BINARY)
        self.environment["PATH"] = f"{tools}:{self.environment['PATH']}"

    def shell(self, command, folder=None):
        return subprocess.run(command, shell=True, cwd=folder or self.work, env=self.environment, capture_output=True, text=True, timeout=300)

    def test_the_task_is_never_written_over(self):
        self.refuses("optimize", "task.cu", "-o", "task.cu", *SIM, *SHORT, code=2, says=["task.cu itself"])
        self.assertEqual((self.work / "task.cu").read_text(), TASK)
        self.refuses("optimize", "task.cu", "-o", "replies", *SIM, *SHORT, code=2, says=["is a folder"])
        self.refuses("optimize", "task.cu", "-o", "task.cu/best.cu", *SIM, *SHORT, code=12, says=["is no folder"])
        self.assertFalse((self.work / "cudal1-runs").exists())

    def test_the_command_that_goes_on_is_the_same_run(self):
        result = self.run_cli("optimize", "task.cu", *SIM, "--model", "exchange:my desk", "--rounds", "1", "--samples", "2", "--no-repair", "--set", "N=48",
                              "--confirmations", "1", "-o", "best file.cu", code=75)
        printed = re.search(r"or with: (cudal1 .*)", result.err).group(1)
        listed = self.run_cli("runs", "--json").json()["runs"][0]["resume"]
        for command in (printed, listed):
            for words in ("--set N=48", "--confirmations 1", "--output 'best file.cu'", "--rounds 1", "--samples 2", "'exchange:my desk'"):
                self.assertIn(words, command)
        for key in ("r01-s01", "r01-s02"):
            self.write(f"my desk/{key}.md", reply(FASTER))
        elsewhere = self.work / "elsewhere"
        elsewhere.mkdir()
        self.environment["CUDAL1_QUIET"] = "true"
        from_elsewhere = json.loads(self.shell(f"cudal1 runs {self.work} --json", elsewhere).stdout)["runs"][0]["resume"]
        del self.environment["CUDAL1_QUIET"]
        done = self.shell(from_elsewhere, elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("going on with", done.stderr)
        self.assertTrue((self.work / "best file.cu").exists())
        self.assertIn("finished", self.run_cli("runs").out)

    def test_a_report_repeats_the_run_that_it_tells_of(self):
        run = self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:replies", *SHORT, "--set", "N=96", "--out", "run", "--json").json()
        command = re.search(r"repeat without the model \| `?(cudal1 [^|`]*)", self.run_cli("report", "run", "--format", "markdown").out).group(1)
        again = self.shell(command.strip() + " --json --out again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(json.loads(again.stdout)["best"]["predicted_speedup"], run["best"]["predicted_speedup"])

    def test_without_improvement_the_tasks_own_kernel_is_written(self):
        self.write("replies/r01-s01.md", reply(WRONG))
        command = ("optimize", "task.cu", *SIM, "--model", "replay:replies", *SHORT, "-o", "fast.cu")
        self.run_cli(*command, code=3)
        self.assertFalse((self.work / "fast.cu").exists())
        self.run_cli(*command, "--allow-no-improvement")
        self.assertIn("cudaError_t add_one(", (self.work / "fast.cu").read_text())
        self.run_cli("verify", "task.cu", "fast.cu", *SIM, "--quick")

    @unittest.skipIf(GPU, "there is a GPU")
    def test_what_is_only_predicted_has_its_own_exit_code(self):
        self.write("faster.cu", FASTER)
        self.run_cli("verify", "task.cu", "faster.cu", "--quick", code=9)
        self.run_cli("bench", "task.cu", "faster.cu", "--quick", code=9)

    def test_verify_takes_several_variants(self):
        self.write("faster.cu", FASTER)
        self.write("wrong.cu", WRONG)
        self.says(self.run_cli("verify", "task.cu", "faster.cu", "task.cu", *SIM, "--quick"), "faster.cu: right in", "task.cu: right in")
        self.says(self.run_cli("verify", "task.cu", "faster.cu", "wrong.cu", *SIM, "--quick", code=6), "WRONG_RESULT")

    def test_bench_has_a_threshold(self):
        self.write("faster.cu", FASTER)
        self.run_cli("bench", "task.cu", "faster.cu", *SIM, "--quick", "--at-least", "1.01")
        self.says(self.run_cli("bench", "task.cu", "faster.cu", *SIM, "--quick", "--at-least", "1e6", code=3), "--at-least")

    def test_errors_are_json_where_results_are(self):
        for command, code in ((("verify", "none.cu", "task.cu"), 11), (("bench", "task.cu", "task.cu", "--gpu", "H20O", *SIM), 2), (("report", "nowhere"), 11)):
            error = self.run_cli(*command, "--json", code=code).json()["error"]
            self.assertEqual(error["exit_code"], code)
            self.assertTrue(error["message"])

    def test_progress_as_json_is_nothing_else(self):
        result = self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:replies", *SHORT, "--out", "run", "--progress", "json")
        events = [json.loads(line) for line in result.err.splitlines()]
        self.assertTrue(all("time" in event for event in events))
        self.assertEqual({event.get("run", "run") for event in events}, {"run"})
        replied = next(event for event in events if event["event"] == "replied")
        self.assertIn("output_tokens", replied)

    def test_a_duplicate_is_no_answer(self):
        result = self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:replies", "--rounds", "1", "--samples", "2", "--no-repair")
        self.says(result, "1 answer, 1 right, 1 faster (1 given before)")

    def test_one_run_is_listed_and_a_killed_one_is_read_from_its_journal(self):
        self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:replies", *SHORT, "--out", "run")
        summary = json.loads((self.work / "run/run.json").read_text())
        summary.update(stopped_because="", judged=0, best_verdict="", best_score=0, rounds=0)
        (self.work / "run/run.json").write_text(json.dumps(summary))
        self.says(self.run_cli("runs", "run"), "killed; 1 round, 1 judged; best: PREDICTED_FASTER")

    def test_a_closed_terminal_ends_a_run_in_order(self):
        self.write("slow.sh", "#!/bin/sh\nsleep 60\n").chmod(0o755)
        process = subprocess.Popen([BINARY, "optimize", "task.cu", *SIM, "--model", "cmd:./slow.sh", *SHORT, "--out", "run"], cwd=self.work, env=self.environment,
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in process.stderr:
            if line.startswith("reference"):
                break
        process.send_signal(signal.SIGHUP)
        words = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(60), 129)
        self.assertIn("go on with the same command", words)


    def test_a_worker_that_is_asked_to_end_finishes(self):
        # As a job scheduler does it: the signal goes to every process.
        code = TASK.replace("C[row * M + column] = A[row * M + column] + 1.0f;", "{ float s = 0; for (int k = 0; k < 3000; ++k) s = s * 0.5f + A[row * M + column]; C[row * M + column] = A[row * M + column] + 1.0f + 0 * s; }")
        self.write("slow.cu", code)
        process = subprocess.Popen([BINARY, "verify", "slow.cu", "slow.cu", *SIM], cwd=self.work, env=self.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        workers = set()
        while process.poll() is None and len(workers) < 2:
            children = pathlib.Path(f"/proc/{process.pid}/task").glob("*/children")
            for child in " ".join(path.read_text() for path in children).split():
                words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                if b"worker" in words and int(child) not in workers:
                    time.sleep(0.2)   # it has begun
                    with contextlib.suppress(ProcessLookupError):
                        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                            os.kill(int(child), number)
                    workers.add(int(child))
        out, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(len(workers), 2)
        self.assertNotIn("out of memory", out + err)

    def test_an_endless_reply_is_cut_and_kept_once(self):
        self.write("long.sh", "#!/bin/sh\nhead -c 5500000 /dev/zero | tr '\\0' 'x'\n").chmod(0o755)
        result = self.run_cli("optimize", "task.cu", *SIM, "--model", "cmd:./long.sh", *SHORT, "--out", "run", code=3)
        self.says(result, "the one round that was asked for is done", "the reply has 5.5 MB")
        self.assertLess(sum(path.stat().st_size for path in (self.work / "run").rglob("*") if path.is_file()), 9_000_000)

    def test_nothing_is_called_best_before_something_is_faster(self):
        result = self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:replies", "--rounds", "1", "--samples", "1", "--no-repair")
        self.says(result, "best so far")
        self.write("same/r01-s01.md", reply(TASK.split("//@ output")[1].split("\n", 1)[1].replace("+ 1.0f", "+ 1.00f")))
        result = self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:same", *SHORT, code=3)
        self.says(result, "1 answer, 1 right, 0 faster; nothing faster yet")
        self.assertNotIn("best so far 1x", result.err)


class Words(CliTest):
    def test_an_option_of_a_command_is_sent_behind_it(self):
        self.refuses("--json", "runs", code=2, says=["--json is an option of a command", "behind runs"])

    def test_numbers_and_values_are_asked_for_plainly(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", "--time-limit", "10m", code=2, says=["--time-limit: 10m is not a number above 0"])
        self.refuses("optimize", "task.cu", "--cost-limit", "-5", code=2, says=["is not a number above 0"])
        self.refuses("optimize", "task.cu", "--rounds", code=2, says=["--rounds needs a value"])
        self.refuses("compile", "task.cu", "--arch", "eighty", code=2, says=["expected an architecture such as sm_80"])
        self.run_cli("compile", "task.cu", "--arch", "80", "--ptx", "out.ptx")
        self.write("-dash.cu", TASK)
        self.refuses("verify", "-dash.cu", "task.cu", code=2, says=["./-dash.cu"])

    def test_models_are_told_apart_from_their_services(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", *SIM, "--model", "gpt-4o", code=2, says=["did you mean openai/gpt-4o"])
        self.write("notexec.sh", "#!/bin/sh\n")
        self.refuses("optimize", "task.cu", *SIM, "--model", "cmd:./notexec.sh", code=2, says=["may not be executed", "chmod +x"])
        self.refuses("optimize", "task.cu", *SIM, "--model", "cmd:cat | grep x", code=2, says=["there is no shell", "sh -c"])
        self.write("replies/r01-s01.md", reply(FASTER))
        self.run_cli("optimize", "task.cu", *SIM, *SHORT, "--model", "cmd:sh -c \"cat > /dev/null; cat replies/r01-s01.md | cat\"")

    def test_streams_may_be_closed_and_home_may_be_missing(self):
        self.run_cli("runs", prefix=["sh", "-c", '"$0" "$@" <&- >&- 2>&-'])
        del self.environment["HOME"]
        self.run_cli("runs")

    def test_a_variable_that_is_nearly_a_setting_is_told(self):
        self.says(self.run_cli("runs", env={"CUDAL1_ROUNDSX": "3"}), "CUDAL1_ROUNDSX is no setting; did you mean CUDAL1_ROUNDS?")

    def test_the_c_locale_gets_ascii(self):
        self.write("task.cu", TASK)
        self.write("faster.cu", FASTER)
        for command in (("--help",), ("bench", "task.cu", "faster.cu", *SIM, "--quick")):
            result = self.run_cli(*command, env={"LC_ALL": "C"})
            self.assertTrue((result.out + result.err).isascii(), result)

    def test_a_byte_order_mark_and_names_of_nvcc_are_taken(self):
        self.write("task.cu", b"\xef\xbb\xbf" + TASK.replace("int row = ", "uint limit = __FLT_MAX__ > 0 ? N : 0; if (limit == 0) return; int row = ").encode())
        self.run_cli("verify", "task.cu", "task.cu", *SIM, "--quick")


if __name__ == "__main__":
    unittest.main()
