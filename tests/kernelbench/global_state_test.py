# SPDX-License-Identifier: Apache-2.0
"""One warm process of PyTorch for many tasks: what one sets, the next does not see."""

import sys
import unittest

from rule import numbers
from tasks import HERE
import torch

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
from host import Host  # noqa: E402

SETS_EVERYTHING = """\
import torch
torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_default_dtype(torch.float64)
torch.set_num_threads(torch.get_num_threads() + 1)
torch.relu = lambda x: x * 0 + 3
class @Model(torch.nn.Module):
    def forward(self, x):
        torch.backends.cudnn.allow_tf32 = False
        return torch.relu(x)
def get_inputs():
    return [torch.rand(4)]
def get_init_inputs():
    return []
""".replace("@", "")   # a sweep of this folder must not take this file for a task
PLAIN = """\
import torch
class @Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(4)]
def get_init_inputs():
    return []
""".replace("@", "")   # a sweep of this folder must not take this file for a task


class GlobalStateTest(unittest.TestCase):
    def opened(self, host, source):
        return host.open({"path": "task.py", "source": source, "set": {}, "limit": 0})

    def test_a_task_begins_with_pytorchs_own_state_whatever_ran_before_it(self):
        host, threads, relu = Host(), torch.get_num_threads(), torch.relu
        host.hello({"device": "cpu", "rule": numbers()})
        notes = self.opened(host, SETS_EVERYTHING)["notes"]
        self.assertIn("torch.backends.cudnn.benchmark, torch.backends.cuda.matmul.allow_tf32: set by the module", notes[0])
        self.assertFalse(torch.backends.cuda.matmul.allow_tf32)   # nor does it run with what it set
        reply = self.opened(host, PLAIN)
        self.assertEqual(reply["outputs"][0]["dtype"], "float32")
        self.assertEqual(reply["notes"], [])
        self.assertTrue(torch.backends.cudnn.allow_tf32)
        self.assertIs(torch.relu, relu)
        self.assertEqual(torch.get_num_threads(), threads)

    def test_the_environment_does_not_change_the_flags(self):
        torch.backends.cuda.matmul.allow_tf32 = True   # as TORCH_ALLOW_TF32_CUBLAS_OVERRIDE does
        Host().hello({"device": "cpu", "rule": numbers()})
        self.assertFalse(torch.backends.cuda.matmul.allow_tf32)


if __name__ == "__main__":
    unittest.main()
