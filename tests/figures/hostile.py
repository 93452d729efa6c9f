# SPDX-License-Identifier: Apache-2.0
"""Hostile variants, an honest one behind each, in one run of the tool: hostile.py CUDAL1 [--device sim] [--count 1000].

Counts what must stay 0: failures of the program, processes, files and bytes of GPU memory left behind, and honest
variants that were judged other than right. Then kills the program with SIGKILL while a variant hangs and looks for
orphans."""
import argparse
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TASK = """//@ task    scale
//@ torch   C = 2 * A
//@ size    N = 64, M = 64
//@ check   N = 33, M = 70
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  scale<<<ceil_div(N * M, 64), 64>>>(A, C, N * M)
__global__ void scale(const float* A, float* C, int count) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
}
"""
LAUNCH = "//@ launch  k<<<ceil_div(N * M, 64), 64>>>(A, C, N * M)\n"
HONEST = LAUNCH + """__global__ void k(const float* A, float* C, int count) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < count) C[i] = A[i] + A[i];
}
"""


def kernel(body, before="", launch=LAUNCH):
    return (before + launch + "__global__ void k(const float* A, float* C, int count) {\n"
            "  int i = blockIdx.x * 64 + threadIdx.x;\n  " + body + "\n}\n")


# Each takes a number, so that no two are the same source.
KINDS = {
    "wrong value": lambda n: kernel(f"if (i < count) C[i] = 2 * A[i] + {n};"),
    "nothing written": lambda n: kernel(f"if (i == -{n + 1}) C[0] = 1;"),
    "past the end": lambda n: kernel(f"if (i < count) C[i] = 2 * A[i]; if (i == 0) C[count + {n % 64}] = 1;"),
    "illegal address": lambda n: kernel(f"if (i < count) C[i + (1LL << 40) + {n}] = 2 * A[i];"),
    "trap": lambda n: kernel(f"if (i == {n % 64}) __trap(); if (i < count) C[i] = 2 * A[i];"),
    "misaligned": lambda n: kernel(f"if (i == {n % 64}) *(float*)((char*)C + 2) = 1;"),
    "changed input": lambda n: kernel(f"if (i < count) C[i] = 2 * A[i], ((float*)A)[i] = {n};"),
    "state": lambda n: "__device__ float kept;\n" + kernel(f"if (i < count) kept = C[i] = 2 * A[i] + {n};"),
    "heap": lambda n: kernel(f"float* p = (float*)malloc({n + 4}); if (i < count) *p = A[i], C[i] = 2 * *p; free(p);"),
    "no memory": lambda n: kernel(f"if (i < count) C[i] = 2 * A[i] + S[i];".replace("S[i]", "0") + f" // {n}",
                                  f"//@ scratch S: float32[N * 2000000000 + {n}]\n"),
    "too much shared memory": lambda n: kernel(f"if (i < count) C[i] = 2 * A[i]; // {n}",
                                               launch=LAUNCH.replace("64>>>", f"64, {1048576 + n}>>>")),
    "empty grid": lambda n: kernel("C[i] = 0;", launch=LAUNCH.replace("ceil_div(N * M, 64)", f"N - N - {n}")),
    "does not compile": lambda n: kernel(f"C[i] = undeclared_{n};"),
    "deep template": lambda n: "template <int d> struct D { static constexpr long long v = D<d - 1>::v + D<d - 2>::v; };\n"
                               + kernel(f"C[i] = D<{50000 + n}>::v;"),
    "includes a file": lambda n: '#include "/etc/passwd"\n' + kernel(f"C[i] = {n};"),
    "huge constant": lambda n: kernel(f"C[i] = table[{n}];", "", LAUNCH).replace("__global__", "__constant__ float table[20000] = {1};\n__global__", 1),
    "host code": lambda n: f"#include <thread>\nint f() {{ return {n}; }}\n" + kernel("C[i] = 0;"),
    "text, no kernel": lambda n: f"I cannot help with {n}.\n" * 50,
    "binary": lambda n: "".join(chr(1 + (n * 31 + k * 7) % 255) for k in range(400)),
    "prints without end": lambda n: kernel(f'for (int j = 0; j < 300; ++j) printf("flood {n} %d\\n", i); if (i < count) C[i] = 0;'),
    "hang": lambda n: kernel(f"volatile float* out = C; while (true) *out = {n};"),
    "lost barrier": lambda n: kernel(f"if (threadIdx.x < 32) {{ while (((volatile float*)C)[0] != {n}.5f) __nanosleep(100); }} __syncthreads(); C[i] = 0;"),
    "compile bomb": lambda n: kernel("float x = A[i];\n" + "#define R(a) a a a a a a a a\n" + f"R(R(R(R(R(R(x = sinf(x) + {n};))))))\nC[i] = x;"),
}
COSTLY = {"hang": 40, "lost barrier": 40, "compile bomb": 200}  # one in so many


def plan(count):
    kinds = list(KINDS)
    chosen, turn = [], 0
    while len(chosen) < count:
        kind = kinds[turn % len(kinds)]
        turn += 1
        if kind in COSTLY and len(chosen) % COSTLY[kind] != kinds.index(kind) % COSTLY[kind]:
            continue
        chosen.append(kind)
    for number, kind in enumerate(COSTLY):  # each at least once
        chosen[number * 7 % count] = kind
    return chosen


def processes(word):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line and int(entry.name) != os.getpid() and "hostile.py" not in line:
            found.append((int(entry.name), line))
    return found


def gpu_bytes():
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], check=True,
                              capture_output=True, text=True).stdout
        return int(text.splitlines()[0])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cudal1")
    parser.add_argument("--device", default="sim")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=100)
    options = parser.parse_args()
    cudal1 = os.path.abspath(options.cudal1)
    failures, verdicts, unaffected, hostile_right = 0, collections.defaultdict(collections.Counter), 0, 0
    began, memory = time.time(), gpu_bytes()
    with tempfile.TemporaryDirectory(prefix="hostile") as folder:
        home = pathlib.Path(folder)
        temporary = home / "tmp"
        temporary.mkdir()
        environment = dict(os.environ, HOME=folder, XDG_CACHE_HOME=str(home / "cache"), XDG_CONFIG_HOME=folder,
                           XDG_STATE_HOME=folder, TMPDIR=str(temporary))
        (home / "task.cu").write_text(TASK)
        (home / "honest.cu").write_text(HONEST)
        kinds = plan(options.count)
        common = ["--device", options.device, "--quick", "--json", "--run-limit", "1", "--compile-limit", "3", "--gpu-budget", "5"]
        for start in range(0, options.count, options.batch):
            files, expected = [], []
            for number, kind in enumerate(kinds[start:start + options.batch], start):
                name = home / f"h{number}.cu"
                name.write_text(KINDS[kind](number))
                files += [str(name), "honest.cu"]
                expected.append(kind)
            run = subprocess.run([cudal1, "bench", "task.cu", *files, *common], cwd=folder, env=environment, capture_output=True,
                                 text=True, check=False, timeout=1200)
            try:
                judged = json.loads(run.stdout)["variants"]
            except ValueError:
                failures += 1
                print(f"batch {start}: exit {run.returncode}\n{run.stderr[-2000:]}")
                continue
            if run.returncode not in (0, 3, 6):
                failures += 1
            for kind, hostile, honest in zip(expected, judged[0::2], judged[1::2]):
                word = hostile["judgement"]["verdict"]
                verdicts[kind][word] += 1
                right = ("PREDICTED_" in word or word in ("FASTER", "SLOWER", "EQUIVALENT", "INCONCLUSIVE"))
                hostile_right += right
                word = honest["judgement"]["verdict"].replace("PREDICTED_", "")
                good = word in ("FASTER", "SLOWER", "EQUIVALENT", "INCONCLUSIVE")
                unaffected += good
                if not good:
                    print(f"after {kind}: {honest['judgement']}")
            print(f"{min(start + options.batch, options.count)} judged, {time.time() - began:.0f} s", flush=True)
        left = processes(cudal1)
        files = sorted(temporary.rglob("*"))
        print(f"hostile {options.count}, honest unaffected {unaffected}, failures {failures}, processes left {len(left)}, "
              f"files left {len(files)}, GPU memory before {memory} MiB, after {gpu_bytes()} MiB, {time.time() - began:.0f} s")
        for kind, counts in verdicts.items():
            print(f"  {kind}: " + ", ".join(f"{word} {count}" for word, count in counts.items()))

        # SIGKILL while a variant runs: workers end with their parent.
        (home / "hang.cu").write_text(KINDS["hang"](options.count))
        run = subprocess.Popen([cudal1, "bench", "task.cu", "hang.cu", "--device", options.device, "--run-limit", "60"], cwd=folder,
                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(6)
        before = len(processes(cudal1))
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        time.sleep(2)
        orphans, files_after = processes(cudal1), sorted(temporary.rglob("*"))
        print(f"kill -9 with {before} processes: {len(orphans)} orphans, {len(files_after)} files, GPU memory {gpu_bytes()} MiB")
    bad = failures or left or files or orphans or files_after or unaffected != options.count
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
