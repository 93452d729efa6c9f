# SPDX-License-Identifier: Apache-2.0
"""The exports of verified answers, built and run on a GPU: by KernelBench's rules, as a PyTorch function, and through nvcc."""

import concurrent.futures
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from tasks import HERE, TOLERANCE, TaskTest
import torch

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
from task_module import TaskModule  # noqa: E402

TASKS = ("level1/4_Swish.py", "level1/18_Max_and_index.py", "level2/1_Linear_GELU_softmax.py")
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


class ExportsTest(TaskTest):
    @classmethod
    def setUpClass(cls):
        if not torch.cuda.is_available():
            print("skipped: PyTorch finds no GPU", file=sys.stderr)
            sys.exit(77)

    def test_every_form_runs_and_is_right(self):
        selection = [argument for key in TASKS for argument in ("--match", key)]
        forms = [argument for form in ("kernelbench", "torch", "host") for argument in ("--export", form)]
        rows = self.run_cli("sweep", HERE, *selection, *forms, "--device", "cuda:0", "--rounds", "1", "--samples", "2", "--json", timeout=600).json()
        checks = [(check, row) for row in rows["tasks"] for check in (self.kernelbench, self.torch, self.host)]
        self.assertEqual(len(checks), 3 * len(TASKS))
        with concurrent.futures.ThreadPoolExecutor() as pool:  # each of them mostly waits for a compiler
            for check, row, done in [(check, row, pool.submit(check, row)) for check, row in checks]:
                with self.subTest(f"{check.__name__} {row['key']}"):
                    self.assertEqual(row["status"], "verified", row)
                    done.result()

    def python(self, *arguments):
        return subprocess.run([sys.executable, *map(str, arguments)], cwd=HERE, capture_output=True, text=True, timeout=600,
                              env=self.environment | {"TORCH_EXTENSIONS_DIR": str(self.work / "extensions")})

    def export(self, form):
        return self.work / "cudal1-sweep" / "export" / form

    def kernelbench(self, row):
        name = f"level_{row['level']}_problem_{row['id']}_sample_0_kernel.py"
        ran = self.python("kernelbench_rules.py", HERE / row["key"], self.export("kernelbench") / "runs" / f"level{row['level']}" / name)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(json.loads(ran.stdout.splitlines()[-1]), {"static": [], "correct": True, "reason": None})

    def torch(self, row):
        ran = self.python("-c", "import sys, torch; from tasks import *; from exports_test import expected, near\n"
                          "task, given, wanted = expected(sys.argv[1]); sys.path.insert(0, sys.argv[2])\n"
                          "got = getattr(__import__(sys.argv[3]), sys.argv[3])(*given)\n"
                          "near(got if isinstance(got, tuple) else [got], wanted)", HERE / row["key"], self.export("torch"), row["task"])
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def host(self, row):
        name, folder = row["task"], self.export("host")
        _, given, wanted = expected(HERE / row["key"])
        got = [torch.full_like(each, 77) for each in wanted]
        kinds = re.search(r"cudaError_t \w+\(([^)]*)\);", (folder / f"{name}.h").read_text()).group(1).split(",")
        passed = [f"({kind.strip().rpartition(' ')[0]})pointers[{i}]" for i, kind in enumerate(kinds[:len(given) + len(got)])]
        (folder / f"call_{name}.cu").write_text(f'#include "{name}.h"\nextern "C" int call(void** pointers) {{ return (int){name}({", ".join(passed)}); }}\n')
        subprocess.run([NVCC, "-arch=native", "-shared", "-Xcompiler", "-fPIC", f"{name}.cu", f"call_{name}.cu", "-o", f"lib{name}.so"],
                       cwd=folder, check=True, capture_output=True)
        pointers = (ctypes.c_void_p * len(passed))(*(each.data_ptr() for each in [*given, *got]))
        torch.cuda.synchronize()
        self.assertEqual(ctypes.CDLL(str(folder / f"lib{name}.so")).call(pointers), 0)
        torch.cuda.synchronize()
        near(got, wanted)


def expected(path):
    """The task, what an answer gets and what it should give, on the GPU."""
    path = pathlib.Path(path)
    task = TaskModule(str(path), path.read_text(), {}, "cuda")
    given = [each.contiguous() for each in task.flat_inputs(task.model, task.arguments)]
    return task, given, task.forward(task.build(42), task.arguments)


def near(got, wanted):
    for one, other in zip(got, wanted):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert torch.allclose(one.double(), other.double(), atol=TOLERANCE, rtol=TOLERANCE), (one, other)


if __name__ == "__main__":
    unittest.main()
