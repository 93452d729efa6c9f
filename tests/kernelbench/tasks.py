# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: they need PyTorch, and run the binary as tests/cli does."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: PyTorch is missing (apt install python3-torch)", file=sys.stderr)
    sys.exit(77)

import fixture  # noqa: E402

TOLERANCE = 1e-4  # KernelBench's for float32
PYTHON = os.environ.get("CUDAL1_PYTHON", sys.executable)


class TaskTest(fixture.CliTest):
    def setUp(self):
        super().setUp()
        self.environment["CUDAL1_PYTHON"] = PYTHON

    def module(self, model, inputs="return [torch.rand(4, 8)]", init="return []", name="task.py"):
        return self.write(name, f"import torch\nimport torch.nn as nn\n{model}\ndef get_inputs():\n    {inputs}\n"
                                f"def get_init_inputs():\n    {init}\n")
