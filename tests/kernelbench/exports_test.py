# SPDX-License-Identifier: Apache-2.0
"""The exports of verified answers, built and run on a GPU: by KernelBench's rules, as a PyTorch function, and through nvcc;
and each of them verified again by the program."""

import concurrent.futures
import ctypes
import json
import os
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

# Pointwise, a row, a product, parameters, a bool and an int64 input, several outputs, a convolution, several operations.
TASKS = ("level1/1_Matrix_product.py", "level1/4_Swish.py", "level1/6_Softmax.py", "level1/7_LayerNorm.py", "level1/12_Conv2d.py",
         "level1/15_Masked_cumsum.py", "level1/16_Cross_entropy.py", "level1/18_Max_and_index.py", "level2/1_Linear_GELU_softmax.py")
INTEGER_TARGETS = "level1/16_Cross_entropy.py"  # KernelBench casts them to float, and its own reference fails
RIGHT = {"FASTER", "EQUIVALENT", "INCONCLUSIVE", "SLOWER"}
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

# The function of an export, with the weights of the task's own Model.
WRAPPER = """\
import sys
import torch
sys.path.insert(0, {folder!r})
from {name} import {name} as function
namespace = {{"__name__": "task"}}
with open({task!r}) as text:
    exec(compile(text.read(), {task!r}, "exec"), namespace)

class ModelNew(namespace["Model"]):
    def forward(self, *inputs):
        return function(*inputs, *[self.get_parameter(path).detach() for path in {state!r}])
"""


class ExportsTest(TaskTest):
    @classmethod
    def setUpClass(cls):
        if not torch.cuda.is_available():
            print("skipped: PyTorch finds no GPU", file=sys.stderr)
            sys.exit(77)

    def test_every_form_runs_and_is_right(self):
        selection = [argument for key in TASKS for argument in ("--match", key)]
        forms = [argument for form in ("kernelbench", "torch", "host") for argument in ("--export", form)]
        rows = self.run_cli("sweep", HERE, *selection, *forms, "--device", "cuda:0", "--rounds", "1", "--samples", "2",
                            "--baseline", "eager", "--json", timeout=600).json()
        checks = [(check, row) for row in rows["tasks"] for check in (self.kernelbench, self.torch, self.host)]
        self.assertEqual(len(checks), 3 * len(TASKS))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # each of them mostly waits for a compiler
            for check, row, done in [(check, row, pool.submit(check, row)) for check, row in checks]:
                with self.subTest(f"{check.__name__} {row['key']}"):
                    self.assertEqual(row["status"], "verified", row)
                    done.result()
                    print(f"{check.__name__} {row['key']}: right", file=sys.stderr, flush=True)

    def python(self, *arguments):
        return subprocess.run([sys.executable, *map(str, arguments)], cwd=HERE, capture_output=True, text=True, timeout=600,
                              env=self.environment | {"TORCH_EXTENSIONS_DIR": str(self.work / "extensions"), "PYTHONDONTWRITEBYTECODE": "1"})

    def verified(self, row, answer):
        command = [os.environ["CUDAL1_TEST_BINARY"], "verify", str(HERE / row["key"]), str(answer), "--device", "cuda:0", "--baseline", "eager", "--json"]
        ran = subprocess.run(command, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=900)
        self.assertTrue(ran.stdout, ran.stderr)
        judgement = json.loads(ran.stdout)["variants"][0]["judgement"]
        self.assertIn(judgement["verdict"], RIGHT, judgement)
        self.assertGreater(judgement["errors"]["trials"], 0)

    def export(self, form):
        return self.work / "cudal1-sweep" / "export" / form

    def kernelbench(self, row):
        name = f"level_{row['level']}_problem_{row['id']}_sample_0_kernel.py"
        path = self.export("kernelbench") / "runs" / f"level{row['level']}" / name
        ran = self.python("kernelbench_rules.py", HERE / row["key"], path)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        judged = json.loads(ran.stdout.splitlines()[-1])
        self.assertEqual((judged["static"], judged["correct"]), ([], None if row["key"] == INTEGER_TARGETS else True), judged)
        self.verified(row, path)

    def torch(self, row):
        ran = self.python("-c", "import sys, torch; from exports_test import expected, near\n"
                          "given, wanted, state = expected(sys.argv[1]); sys.path.insert(0, sys.argv[2])\n"
                          "got = getattr(__import__(sys.argv[3]), sys.argv[3])(*given)\n"
                          "near(got if isinstance(got, tuple) else [got], wanted)", HERE / row["key"], self.export("torch"), row["task"])
        self.assertEqual(ran.returncode, 0, ran.stderr)
        values = {"folder": str(self.export("torch")), "name": row["task"], "task": str(HERE / row["key"]), "state": expected(HERE / row["key"])[2]}
        self.verified(row, self.write(f"{row['task']}_again.py", WRAPPER.format(**values)))

    def host(self, row):
        name, folder = row["task"], self.export("host")
        self.verified(row, folder / f"{name}.cu")
        given, wanted, _ = expected(HERE / row["key"])
        got = [torch.full_like(each, 1 if each.dtype == torch.bool else 77) for each in wanted]
        kinds = re.search(r"cudaError_t \w+\(([^)]*)\);", (folder / f"{name}.h").read_text()).group(1).split(",")
        passed = [f"({kind.strip().rpartition(' ')[0]})pointers[{i}]" for i, kind in enumerate(kinds[:len(given) + len(got)])]
        (folder / f"call_{name}.cu").write_text(f'#include "{name}.h"\nextern "C" int call(void** pointers) {{ return (int){name}({", ".join([*passed, "0"])}); }}\n')
        subprocess.run([NVCC, "-arch=native", "-shared", "-Xcompiler", "-fPIC", f"{name}.cu", f"call_{name}.cu", "-o", f"lib{name}.so"],
                       cwd=folder, check=True, capture_output=True)
        pointers = (ctypes.c_void_p * len(passed))(*(each.data_ptr() for each in [*given, *got]))
        torch.cuda.synchronize()
        self.assertEqual(ctypes.CDLL(str(folder / f"lib{name}.so")).call(pointers), 0)
        torch.cuda.synchronize()
        near(got, wanted)


def expected(path):
    """What an answer to a task gets, what it should give, on the GPU, and the paths of the weights among the former."""
    task = TaskModule(str(path), pathlib.Path(path).read_text(), {}, "cuda")
    model, arguments = task.build(42), task.make_inputs(42)
    torch.backends.cudnn.allow_tf32 = False
    return ([each.contiguous() for each in task.flat_inputs(model, arguments)], task.forward(model, arguments),
            [entry["path"] for entry in task.state])


def near(got, wanted):
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert torch.allclose(one.double(), other.double(), atol=TOLERANCE, rtol=TOLERANCE), (one, other)


if __name__ == "__main__":
    unittest.main()
