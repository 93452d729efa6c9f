# SPDX-License-Identifier: Apache-2.0
"""What a module's trials are drawn from: patterns reach whatever draws, structure stays, and no weight is as constructed."""

import math
import pathlib
import sys
import unittest
import unittest.mock

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib" / "pytorch"))
from task_cases import MOST_MEETINGS, Cases, says_something  # noqa: E402
from task_module import TaskModule  # noqa: E402

MODULE = "import random\nimport torch\nimport torch.nn as nn\n\n\n{}\n\n\ndef get_inputs():\n    {}\n\n\ndef get_init_inputs():\n    return []\n"
IDENTITY = "class Model(nn.Module):\n    def forward(self, *x):\n        return sum(each.sum() for each in x)\n"


def task(inputs, model=IDENTITY):
    return TaskModule("module.py", MODULE.format(model, inputs), {})


class PatternTest(unittest.TestCase):
    MAKERS = ["torch.rand(40, 9)", "torch.randn(40, 9)", "torch.rand_like(torch.empty(40, 9))", "torch.randn_like(torch.empty(40, 9))",
              "torch.empty(40, 9).uniform_(2, 3)", "torch.empty(40, 9).normal_(5, 0.1)", "torch.normal(0.0, 1.0, (40, 9))", "torch.empty(40, 9).exponential_()",
              "nn.init.uniform_(torch.empty(40, 9))", "nn.init.xavier_normal_(torch.empty(40, 9))", "nn.init.kaiming_uniform_(torch.empty(40, 9))",
              "nn.init.trunc_normal_(torch.empty(40, 9))", "torch.distributions.Normal(0.0, 1.0).sample((40, 9))"]

    def test_every_function_that_draws_is_replaced(self):
        for maker in self.MAKERS:
            with self.subTest(maker):
                value = task(f"return [{maker}]").make_inputs(3, "integers")[0]
                self.assertTrue(torch.equal(value, value.round()))
                self.assertEqual(set(value.flatten().tolist()), {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0})

    def test_the_modules_own_structure_stays(self):
        for pattern in ("normal", "wide", "stray", "lone", "bands", "magnitudes", "tiny", "positive"):
            triangle, share = task("return [torch.rand(30, 30).tril(), torch.softmax(torch.rand(30, 30), dim=1)]").make_inputs(3, pattern)
            self.assertTrue(torch.equal(triangle, triangle.tril()), pattern)
            self.assertTrue(torch.allclose(share.sum(1), torch.ones(30)), pattern)

    def test_the_same_seed_draws_the_same(self):
        several = task("return [torch.rand(30, 30) * random.random(), torch.randint(0, 9, (4,))]")
        for pattern in ("declared", "stray", "bands", "tiny"):
            first, again, other = (several.make_inputs(seed, pattern) for seed in (3, 3, 4))
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(first, again)), pattern)
            self.assertFalse(torch.equal(first[0], other[0]), pattern)

    def test_where_patterns_are_mixed_the_ends_are_as_declared(self):
        one = task("return [torch.rand(40, 50)]")
        declared = one.make_inputs(3)[0].flatten()
        for pattern in ("stray", "lone", "bands", "tiny", "infinite"):
            mixed = one.make_inputs(3, pattern)[0].flatten()
            self.assertTrue(torch.equal(mixed[:64], declared[:64]) and torch.equal(mixed[-64:], declared[-64:]), pattern)
            self.assertFalse(torch.equal(mixed, declared), pattern)

    def test_bands_of_the_class_half_hold_nothing_whose_products_float16_does_not_hold(self):
        one = task("return [torch.randn(200, 50)]")
        self.assertGreater(float(one.make_inputs(3, "bands", 1)[0].abs().max()), 2.0 ** 13)
        one.precision = "half"
        for seed in range(4):
            self.assertLess(float(one.make_inputs(seed, "bands", 1)[0].abs().max()), 2.0 ** 13)

    def test_large_elements_meet_zeros_of_a_weight_and_of_an_input(self):
        linear = "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.linear = nn.Linear(64, 48)\n    def forward(self, x):\n        return self.linear(x)\n"
        one = task("return [torch.randn(32, 64)]", linear)
        for turn, least in ((0, 2.0 ** 20), (1, 2.0 ** 24)):
            cases = Cases(one)
            trial = {"seed": 5, "pattern": "meets_zero", "turn": turn, "weights": 7}
            pair = cases.arguments(trial)[0], cases.model(trial).linear.weight.detach()
            large, zeros = pair[turn], pair[1 - turn]
            columns = [i for i in range(64) if bool((zeros[:, i] == 0).all())]
            self.assertEqual(len(columns), 4)
            met = large.abs() > least / 2
            self.assertTrue(bool(met.any()) and not bool(met.all(1).any()))
            self.assertEqual({int(i) for i in met.nonzero()[:, 1]} - set(columns), set(), "nothing else is large")
            self.assertLess(float(cases.truth(cases.model(trial), cases.arguments(trial))[0].abs().max()), 100)
            declared = {"seed": 5, "pattern": "declared", "weights": 7}
            self.assertTrue(bool((cases.model(declared).linear.weight != 0).all()) and float(cases.arguments(declared)[0].abs().max()) < 10, "others stay")

    def test_a_trials_meeting_stays_the_same_however_long_it_takes_to_find(self):
        product = "class Model(nn.Module):\n    def forward(self, x, y):\n        return x @ y\n"
        trial = {"seed": 5, "pattern": "meets_zero", "turn": 0}
        cases, slow, tried = Cases(task("return [torch.randn(16, 16), torch.randn(16, 16)]", product)), Cases(task("return [torch.randn(16, 16), torch.randn(16, 16)]", product)), []
        met = cases.arguments(trial)
        self.assertGreater(float(met[0].abs().max()), 2.0 ** 19)
        usual = slow.with_tensors

        def late(*arguments):
            tried.append(arguments)
            return usual(*arguments)
        slow.with_tensors = late
        with unittest.mock.patch("time.monotonic", lambda: 1e9 + 100 * len(tried)):
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(met, slow.arguments(trial))))
        self.assertGreater(len(tried), 2, "the first pair does not do")
        cases.arguments({"seed": 6, "pattern": "stray"})
        cases.with_tensors = None   # never searched for again
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(met, cases.arguments(trial))))

    def test_meetings_are_tried_up_to_a_number_and_none_is_remembered_too(self):
        cases, tried = Cases(task("return [torch.randn(4, 4, 4, 4), torch.randn(4, 4, 4, 4)]")), []
        cases.with_tensors = lambda *_: tried.append(1)
        trial = {"seed": 5, "pattern": "meets_zero", "turn": 1}
        for _ in range(2):
            self.assertTrue(torch.equal(cases.arguments(trial)[0], cases.task.make_inputs(5)[0]))
            cases.arguments({"seed": 6, "pattern": "stray"})
        self.assertEqual(len(tried), MOST_MEETINGS)

    def test_where_memory_ends_nothing_meets_zeros(self):
        trial = {"seed": 5, "pattern": "meets_zero", "turn": 0}
        full = torch.cuda.OutOfMemoryError("CUDA out of memory")
        for name in ("enlarged", "zeroed", "copy.deepcopy"):
            cases = Cases(task("return [torch.randn(16, 16), torch.randn(16, 16)]", "class Model(nn.Module):\n    def forward(self, x, y):\n        return x @ y\n"))
            cases.built_model(trial)
            with unittest.mock.patch(f"task_cases.{name}", side_effect=full):
                self.assertTrue(torch.equal(cases.arguments(trial)[0], cases.task.make_inputs(5)[0]), name)
            self.assertTrue(torch.equal(cases.arguments(trial)[0], cases.task.make_inputs(5)[0]), "nor later")
            with unittest.mock.patch("task_cases.enlarged", side_effect=RuntimeError("a bug")), self.assertRaises(RuntimeError):
                cases.arguments(dict(trial, seed=6))

    def test_where_every_element_counts_nothing_meets_zeros(self):
        trial = {"seed": 5, "pattern": "meets_zero", "turn": 0, "weights": 7}
        cases = Cases(task("return [torch.randn(9, 9)]", "class Model(nn.Module):\n    def forward(self, x):\n        return x @ x\n"))
        self.assertTrue(torch.equal(cases.arguments(trial)[0], cases.task.make_inputs(5)[0]))

    def test_integers_that_choose_keep_their_range(self):
        self.assertTrue(bool((task("return [torch.randint(0, 9, (40,))]").make_inputs(3, "wide")[0] < 9).all()))

    def test_the_ends_of_integers_are_read_however_they_are_named(self):
        for ends in ("1, 10, (40,)", "1, high=10, size=(40,)", "low=1, high=10, size=(40,)", "1, 10, size=(40,)"):
            drawn = task(f"return [torch.randint({ends})]").make_inputs(3, "repeats")[0]
            self.assertEqual((int(drawn.min()), int(drawn.max())), (1, 9), ends)
        for ends in ("10, (40,)", "high=10, size=(40,)", "10, size=(40,)"):
            drawn = task(f"return [torch.randint({ends})]").make_inputs(3, "repeats")[0]
            self.assertEqual((int(drawn.min()), int(drawn.max())), (0, 9), ends)

    def test_a_constant_input_moves_and_others_stay(self):
        zeros, ones, drawn = task("return [torch.zeros(40), torch.ones(40), torch.rand(40)]").make_inputs(3, "constants")
        self.assertTrue(bool((zeros != 0).all()) and bool((ones != 1).all()))
        self.assertTrue(torch.equal(drawn, task("return [torch.zeros(40), torch.ones(40), torch.rand(40)]").make_inputs(3)[2]))


class WeightTest(unittest.TestCase):
    NORM = "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.norm = nn.BatchNorm1d(6)\n" \
           "        self.register_buffer('mask', torch.ones(4, 4).tril())\n\n    def forward(self, x):\n        return self.norm(x)\n"

    def test_no_weight_is_one_or_zero_because_a_constructor_says_so(self):
        cases = Cases(task("return [torch.rand(8, 6)]", self.NORM))
        model = cases.model({"weights": 7})
        for each in (model.norm.weight, model.norm.bias, model.norm.running_mean, model.norm.running_var):
            self.assertFalse(bool(((each == 0) | (each == 1)).any()))
        self.assertTrue(bool((model.norm.running_var > 0).all()))
        self.assertTrue(torch.equal(model.mask, torch.ones(4, 4).tril()), "a mask is the module's own")

    def test_kernelbenchs_weights_are_as_constructed(self):
        self.assertTrue(torch.equal(Cases(task("return [torch.rand(8, 6)]", self.NORM)).model({}).norm.weight, torch.ones(6)))

    def test_weights_stay_as_constructed_where_an_answer_constructs_its_own(self):
        cases = Cases(task("return [torch.rand(8, 6)]", self.NORM))
        cases.unsettled = False
        self.assertTrue(torch.equal(cases.model({"weights": 7}).norm.weight, torch.ones(6)))

    def test_a_number_in_a_buffer_that_a_module_needs_as_it_is_stays(self):
        model = ("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.gain = nn.Parameter(torch.ones(6))\n"
                 "        self.register_buffer('groups', torch.tensor(2.0))\n\n    def forward(self, x):\n        assert float(self.groups) == 2\n        return x * self.gain\n")
        one = task("return [torch.rand(8, 6)]", model)
        one.outputs = [{"name": "output", "tensor": torch.empty(8, 6)}]
        built = Cases(one).model({"weights": 7})
        self.assertEqual(float(built.groups), 2)
        self.assertFalse(bool((built.gain == 1).any()))


class TrialTest(unittest.TestCase):
    def test_the_spotlight_falls_where_the_output_is_small(self):
        model = "class Model(nn.Module):\n    def forward(self, x):\n        return x * torch.exp(-torch.arange(40.0))\n"
        one = Cases(task("return [torch.rand(30, 40)]", model))
        for seed in range(5):
            lit = (one.arguments({"seed": seed, "pattern": "spotlight", "turn": 1})[0] != 0).any(0).nonzero().flatten().tolist()
            self.assertEqual(len(lit), 1)
            self.assertGreaterEqual(lit[0], 30)

    def test_a_product_over_nothing_is_its_bias(self):
        for model, inputs in (("torch.addmm(x[2], x[0], x[1])", "torch.rand(3, 0), torch.rand(0, 5), torch.rand(5)"),
                              ("torch.baddbmm(x[2], x[0], x[1])", "torch.rand(2, 3, 0), torch.rand(2, 0, 5), torch.rand(2, 3, 5)"),
                              ("nn.functional.linear(*x)", "torch.rand(3, 0), torch.rand(5, 0), torch.rand(5)"), ("x[0] @ x[1]", "torch.rand(3, 0), torch.rand(0, 5)")):
            cases = Cases(task(f"return [{inputs}]", f"class Model(nn.Module):\n    def forward(self, *x):\n        return {model}\n"))
            arguments = cases.task.make_inputs(3)
            (truth,), (sigma,) = cases.sound(cases.model({}), arguments, 4)
            self.assertTrue(torch.equal(truth, (arguments[2] if len(arguments) > 2 else torch.zeros(3, 5)).double().expand(truth.shape)), model)
            self.assertEqual(cases.runs, 4, model)
            self.assertLess(float(sigma.max()), 1e-6, model)

    def test_an_infinity_says_something_where_pytorch_has_it_too(self):
        exact = torch.tensor([1.0, math.inf, 1e300], dtype=torch.float64)
        self.assertTrue(says_something([exact], [torch.tensor([1.0, math.inf, math.inf])]))
        self.assertFalse(says_something([exact], [torch.tensor([1.0, 2.0, math.inf])]))
        self.assertFalse(says_something([exact], [torch.tensor([1.0, math.inf, -math.inf])]))
        self.assertFalse(says_something([torch.tensor([math.nan], dtype=torch.float64)], [torch.tensor([math.nan])]))


if __name__ == "__main__":
    unittest.main()
