# SPDX-License-Identifier: Apache-2.0
"""A task too large for the truth of all of it: PyTorch's float32 stands for most rows, and its own error is nobody else's."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from rule import compared, numbers
from tasks import HERE
import torch

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
import comparison  # noqa: E402
import lent_cases  # noqa: E402
from task_cases import Cases  # noqa: E402
from task_module import WEIGHT_SEED, TaskModule, outline  # noqa: E402

# In float32 one row of it is far off, and only that.
TASK = """\
import torch
class @Model(torch.nn.Module):
    def forward(self, x, shift):
        return (x + shift) - shift
def get_inputs():
    shift = torch.zeros(4096, 1)
    shift[777] = 1e4
    return [torch.rand(4096, 64), shift]
def get_init_inputs():
    return []
""".replace("@", "")   # a sweep of this folder must not take this file for a task


class LargeTask(unittest.TestCase):
    def setUp(self):
        comparison.rule.update(numbers())

    def judged(self, answer):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(lent_cases, "WHOLE_LIMIT", 1000):
            path = pathlib.Path(folder) / "task.py"
            path.write_text(TASK)
            task = TaskModule(str(path), TASK, {}, "cpu")
            cases = Cases(task)
            task.outputs = [{"name": "output", "tensor": outline(task.forward(cases.model({}), task.make_inputs(WEIGHT_SEED))[0])}]
            lent = lent_cases.LentCases(cases)
            lent.offer()
            trial = {"pattern": "declared", "seed": 5, "turn": 0}
            lent.make(0, trial)
            lent.sets[0][-1].copy_(answer(*cases.arguments(trial)))
            found, right = compared(lent, 0, trial)
            self.assertIn("secret slices", found["precision"])
            lent.forget()
            return right

    def test_more_exact_than_pytorch_is_right(self):
        self.assertTrue(self.judged(lambda x, shift: ((x.double() + shift.double()) - shift.double()).float()))

    def test_pytorch_itself_is_right(self):
        self.assertTrue(self.judged(lambda x, shift: (x + shift) - shift))

    def test_a_stale_row_is_wrong(self):
        def stale(x, shift):
            y = (x + shift) - shift
            y[3000] = y[2999]
            return y
        self.assertFalse(self.judged(stale))


if __name__ == "__main__":
    unittest.main()
