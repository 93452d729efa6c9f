# SPDX-License-Identifier: Apache-2.0
"""What a task takes of a GPU's memory, without a GPU and without the memory."""

import sys
import unittest

from tasks import HERE

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
import torch  # noqa: E402
from expansions import pooled_outline  # noqa: E402
from memory_plan import CONTEXTS, Plan, too_large  # noqa: E402
from task_module import TaskModule  # noqa: E402
from torch_line import derive  # noqa: E402

GIB = 2 ** 30
MODULE = """\
import torch
import torch.nn as nn
batch_size = 4096
dim = 1 << 20
width = 3
class @Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(256, 1 << 20))
    def forward(self, x):
        FORWARD
def get_inputs():
    return [torch.rand(batch_size, dim)]
def get_init_inputs():
    return [width]
""".replace("@", "")   # a sweep of this folder must not take this file for a task


def module(forward):
    return MODULE.replace("FORWARD", forward)


class MemoryPlanTest(unittest.TestCase):
    def test_inputs_weights_outputs_and_the_way_between_are_counted(self):
        plan = Plan("task.py", module("return (x.view(-1).relu() * 2).view(x.shape)"), {})
        self.assertEqual(plan.set, (16 + 1 + 16) * GIB)
        self.assertEqual(plan.beside, (1 + 16 + 16) * GIB)   # the weights again, relu(x), and the product
        self.assertEqual(plan.bytes(), plan.set + plan.beside + CONTEXTS)

    def test_the_operations_of_products_are_counted(self):
        def operations(forward):
            return Plan("task.py", module(forward), {"batch_size": 8}).operations

        self.assertEqual(operations("return x @ self.weight.t()"), 2 * 8 * 256 * 2 ** 20)
        self.assertEqual(operations("return torch.addmm(x, x[:, :8], x[:8])"), 2 * 8 * 8 * 2 ** 20)
        signal, taps = "x[:, :900].view(8, 3, 300)", "x[:6, :9].view(6, 3, 3)"
        self.assertEqual(operations(f"return nn.functional.conv1d({signal}, {taps})"), 2 * 8 * 6 * 298 * 9)
        self.assertEqual(operations(f"return nn.functional.conv_transpose1d({signal}, {taps}[:3], stride=2)"), 2 * 8 * 3 * 300 * 9)
        self.assertEqual(operations("return x.relu() + 1"), 0)

    def test_what_ended_is_not_counted(self):
        plan = Plan("task.py", module("for _ in range(9):\n            x = x + 1\n        return x"), {})
        self.assertEqual(plan.beside, (1 + 2 * 16) * GIB)

    def test_a_task_that_fits_is_not_refused(self):
        self.assertEqual(too_large("task.py", module("return torch.relu(x)"), {}, 80 * GIB), "")

    def test_one_that_does_not_is_told_the_size_that_does(self):
        why = too_large("task.py", module("return torch.relu(x)"), {}, 30 * GIB)
        self.assertIn("take 33.0 GiB and PyTorch 17.0 GiB beside them, more than the GPU's 30 GiB", why)
        self.assertIn("--set batch_size=2048 fits", why)
        self.assertEqual(too_large("task.py", module("return torch.relu(x)"), {"batch_size": 2048}, 30 * GIB), "")
        self.assertIn("--set batch_size=512 fits", too_large("task.py", module("return torch.relu(x)"), {}, 10 * GIB))

    def test_a_constant_that_makes_nothing_smaller_is_not_named(self):
        source = module("return torch.relu(x)").replace("torch.rand(batch_size, dim)", "torch.rand(4096, 1 << 20)")
        self.assertIn("no constant of it makes it fit", too_large("task.py", source, {}, 30 * GIB))

    def test_a_module_that_needs_values_is_not_refused(self):
        self.assertEqual(too_large("task.py", module("return x[: int(x.sum())]"), {}, GIB), "")


class WithoutValuesTest(unittest.TestCase):
    """On a CPU the interface of a task needs none of its numbers."""

    SOURCE = module("return torch.nn.functional.max_pool3d(x, self.width)").replace("256, 1 << 20", "2, 2")

    def test_a_line_costs_no_memory_of_its_inputs(self):
        task = TaskModule("task.py", self.SOURCE.replace("batch_size, dim", "batch_size, 64, 128, 128").replace("self.width", "3"), {})
        line, problem, _ = derive(task, task.build(1).to("meta"), task.arguments)
        self.assertEqual((problem, line.partition("(x, 3")[0]), ("", "output = F.max_pool3d"))
        self.assertTrue(task.arguments[0].is_meta)

    def test_inputs_whose_values_are_asked_for_are_drawn(self):
        task = TaskModule("task.py", self.SOURCE.replace("[torch.rand(batch_size, dim)]", "[x := torch.rand(8, 1 << 20), x.sum().item()]").replace("self, x)", "self, x, number)"), {})
        self.assertGreater(task.scalars[0]["value"], 4e6)

    def test_the_outline_of_a_pool_has_its_shape(self):
        x = torch.rand(1, 2, 9, 10, 11)
        for size, step, edge, gap, up in ((2, None, 0, 1, False), (2, 3, 1, 1, True), (3, 2, 1, 2, True), ((3, 2, 1), 1, 0, 1, False)):
            self.assertEqual(pooled_outline(x, size, step, edge, gap, up).shape, torch.nn.functional.max_pool3d(x, size, step, edge, gap, up).shape)


if __name__ == "__main__":
    unittest.main()
