# SPDX-License-Identifier: Apache-2.0
"""The task gate in the process that holds PyTorch: what it says of one module of each kind, and nothing of a sound one."""

import sys
import unittest

from tasks import HERE, TOLERANCE

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
from task_cases import Cases  # noqa: E402
from task_gate import examine  # noqa: E402
from task_module import TaskModule  # noqa: E402

MODULE = """\
import torch
import torch.nn as nn
class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        {state}
    def forward(self, x):
        {forward}
def get_inputs():
    return [{inputs}]
def get_init_inputs():
    return []
"""


def found(forward, inputs="torch.rand(16, 64)", state="pass"):
    module = MODULE.format(name="Model", forward=forward, inputs=inputs, state=state)
    return {each["kind"]: each for each in examine(Cases(TaskModule("task.py", module, {})), TOLERANCE)}


class GateTest(unittest.TestCase):
    def test_nothing_is_found_in_a_sound_task(self):
        self.assertEqual(found("return torch.softmax(x, dim=1) * x"), {})

    def test_one_number_as_output_is_no_constant(self):
        self.assertEqual(found("return x.mean()", "torch.randn(16, 64)"), {})

    def test_an_output_that_is_not_finite_is_broken(self):
        self.assertEqual(found("return torch.log(-x)")["not finite"]["verdict"], "TASK_BROKEN")

    def test_random_numbers_are_unstable(self):
        self.assertEqual(found("return torch.nn.functional.dropout(x, 0.3)")["unstable"]["verdict"], "TASK_UNSTABLE")

    def test_dropout_that_changes_nothing_is_stable(self):
        self.assertNotIn("unstable", found("return torch.nn.functional.dropout(x, 0.3) * 0 + x"))

    def test_an_output_of_zeros_is_degenerate(self):
        self.assertEqual(found("return torch.relu(x - 2)")["zero"]["verdict"], "TASK_DEGENERATE")

    def test_an_output_of_one_value_is_degenerate(self):
        self.assertEqual(found("return torch.tanh(100 + x)")["constant"]["verdict"], "TASK_DEGENERATE")

    def test_an_output_without_its_inputs_is_degenerate(self):
        self.assertEqual(found("return x * 0 + torch.arange(64.)")["input-independent"]["verdict"], "TASK_DEGENERATE")

    def test_an_output_of_weights_alone_is_degenerate(self):
        kinds = found("return x * 0 + self.weight", state="self.weight = nn.Parameter(torch.randn(64))")
        self.assertEqual(kinds["weights only"]["verdict"], "TASK_DEGENERATE")

    def test_an_earlier_output_that_passes_is_degenerate(self):
        # A mean over many values hardly moves with them.
        self.assertIn("an earlier output passes", found("return x.mean(dim=1) + torch.arange(2.)", "torch.rand(2, 1 << 20) * 1e-2")
                      ["input-independent"]["reason"])

    def test_an_input_that_is_the_output_is_degenerate(self):
        self.assertEqual(found("return x * 1")["identity"]["verdict"], "TASK_DEGENERATE")

    def test_an_input_that_is_the_output_in_its_range_is_remarked_on(self):
        kinds = found("return torch.nn.functional.leaky_relu(x)")
        self.assertEqual(kinds["range identity"]["verdict"], "INPUT_RANGE")
        self.assertNotIn("identity", kinds)

    def test_a_kept_state_is_remarked_on(self):
        kinds = found("self.total = self.total + x; return self.total", state="self.total = torch.zeros(16, 64)")
        self.assertEqual(kinds["stateful"]["verdict"], "KEEPS_STATE")

    def test_running_statistics_are_no_state_that_matters(self):
        self.assertEqual(found("return self.norm(x)", state="self.norm = nn.BatchNorm1d(64)"), {})

    def test_an_output_that_rounding_moves_is_ill_conditioned(self):
        kinds = found("return torch.sin(x * 1e7)")
        self.assertEqual(kinds["ill-conditioned"]["verdict"], "TASK_ILL_CONDITIONED")

    def test_whole_numbers_are_looked_at_too(self):
        self.assertEqual(found("return torch.argmax(x, dim=1)"), {})
        self.assertIn("input-independent", found("return torch.argmax(x + 10 * torch.arange(64.), dim=1)"))


if __name__ == "__main__":
    unittest.main()
