# SPDX-License-Identifier: Apache-2.0
"""Answers whose results are chosen among numbers that are nearly equal, by a softmax after a convolution: TF32 moves them as far as a
disturbed run does, and which of two is larger may change. Few runs must not refuse that."""

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
from lent_cases import LentCases  # noqa: E402
from task_cases import Cases  # noqa: E402
from task_module import WEIGHT_SEED, TaskModule, outline  # noqa: E402

TASK = """\
import torch
class @Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 16, 3)
    def forward(self, x):
        x = torch.nn.functional.max_pool2d(self.convolution(x), 2)
        x = torch.softmax(x, dim=1)
        return (torch.sigmoid(x) * x).max(dim=1)[0]
def get_inputs():
    return [torch.rand(24, 3, 66, 66)]
def get_init_inputs():
    return []
""".replace("@", "")   # a sweep of this folder must not take this file for a task


def short(values, bits):
    """Rounded to so many bits behind the point."""
    unit = 1 << (23 - bits)
    return ((values.contiguous().view(torch.int32) + unit // 2) & -unit).view(torch.float32)


class NearChoices(unittest.TestCase):
    def setUp(self):
        comparison.rule.update(numbers())

    def refused(self, bits, seeds):
        """The trials that refuse an answer whose convolution has operands of so many bits."""
        usual, found = torch.nn.functional.conv2d, []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "task.py"
            path.write_text(TASK)
            task = TaskModule(str(path), TASK, {}, "cpu")
            cases = Cases(task)
            task.outputs = [{"name": "output", "tensor": outline(task.forward(cases.model({}), task.make_inputs(WEIGHT_SEED))[0])}]
            lent = LentCases(cases)
            lent.offer()
            for pattern in ("wide", "stray", "mixed", "normal"):
                for seed in range(seeds):
                    trial = {"pattern": pattern, "seed": 100 + seed, "turn": seed % 2, "weights": 200 + seed}
                    lent.make(0, trial)
                    with mock.patch.object(torch.nn.functional, "conv2d",
                                           lambda x, weight, *more: usual(short(x, bits), short(weight, bits), *more)):
                        lent.sets[0][-1].copy_(task.forward(cases.model(trial), cases.arguments(trial))[0])
                    if not compared(lent, 0, trial)[1]:
                        found.append((pattern, seed))
            lent.forget()
        return found

    def test_tf32_is_right(self):
        """Nearly always: of numbers of wide magnitude so many are chosen by so little that sound answers differ in more places than runs show."""
        self.assertLessEqual(len(self.refused(10, 6)), 3, "of 24")

    def test_bfloat16_is_wrong(self):
        self.assertGreater(len(self.refused(7, 1)), 2)


if __name__ == "__main__":
    unittest.main()
