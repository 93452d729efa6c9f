# SPDX-License-Identifier: Apache-2.0
"""Answers of tests/cheats/answers/inexact.py under trials of the judge, in this process: the sound ones are right in all of them,
the others wrong in one."""

import collections
import itertools
import sys
import unittest
from unittest import mock

from answer_test import PROGRAMS, is_right
from rule import asked, numbers
from tasks import HERE

sys.path[:0] = [str(PROGRAMS), str(HERE.parent / "cheats" / "answers")]

import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import comparison  # noqa: E402
import inexact  # noqa: E402
import rounding  # noqa: E402
from comparison import Comparison  # noqa: E402
from answer_cases import SHOWN, TAKEN, AnswerCases  # noqa: E402
from lent_cases import as_text  # noqa: E402
from task_cases import Cases  # noqa: E402
from task_module import TaskModule, mapped, outline, with_numbers  # noqa: E402

comparison.rule.update(numbers())

TRIALS = [{"pattern": "declared"}, {"pattern": "constants", "weights": 5}, {"pattern": "stray", "weights": 5}, {"pattern": "wide", "weights": 5},
          {"pattern": "mixed", "weights": 5}, {"pattern": "repeats", "weights": 5}, {"pattern": "declared", "weights": 5, "numbers": 0.875},
          {"pattern": "spotlight", "weights": 5, "turn": 0}, {"pattern": "declared", "weights": 5, "unsettled": True}]


class OrderTest(unittest.TestCase):
    def test_equal_elements_may_be_named_in_any_order(self):
        values = torch.tensor([[3.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, float("nan")]])
        right = torch.tensor([[0, 2, 3], [3, 0, 1]])
        for got, sound in (([[2, 0, 3], [3, 2, 1]], True), ([[0, 0, 3], [3, 0, 1]], False), ([[0, 2, 1], [3, 0, 1]], False), ([[0, 2, 3], [0, 3, 1]], False),
                           ([[0, 2, 4], [3, 0, 1]], False)):
            self.assertEqual(comparison.same_order(torch.tensor(got), right, [values]), sound, got)
        self.assertFalse(comparison.same_order(right, torch.tensor([[1, 0, 3], [3, 0, 1]]), [values]))   # what names no order


class Counted(TorchDispatchMode):
    """How often each operation of PyTorch runs."""

    def __init__(self):
        super().__init__()
        self.runs = collections.Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.runs[rounding.short(function)] += 1
        return function(*args, **(kwargs or {}))


class Judged:
    """A task, whose truths are taken once."""

    def __init__(self, name, model, inputs):
        self.module = TaskModule(f"{name}.py", inexact.task(model, inputs), {})
        self.cases = Cases(self.module)
        for index, value in enumerate(self.cases.reference(self.cases.model({}), self.module.make_inputs(42))):
            self.module.outputs.append({"name": f"output{index}", "tensor": outline(value)})
        self.lent = AnswerCases(self.cases)
        self.lent.offer()

    def wrong_in(self, text):
        """The trials that show it."""
        found, namespace = [], {}
        exec(compile(text, "answer.py", "exec"), namespace)
        for number, trial in enumerate(TRIALS):
            trial = dict(trial, seed=100 + number)
            given = self.cases.unsettled = trial.get("unsettled", False)
            torch.manual_seed(trial.get("weights", 42))
            model = namespace["ModelNew"]()
            self.lent.make_ready(trial)
            self.lent.show()
            with torch.no_grad():
                if given:
                    for (_, own), held in zip(self.module.state_tensors(model), self.lent.sets[SHOWN][len(self.module.inputs):]):
                        own.copy_(held)
                left = iter(self.lent.sets[SHOWN][:len(self.module.inputs)])
                result = model(*with_numbers(mapped(self.module.arguments, lambda _: next(left).clone()), trial.get("numbers", 1.0)))
            self.lent.sets[SHOWN][-1].copy_(result)
            self.lent.take()
            if not is_right(self.lent.compare(TAKEN, trial)):
                found.append(trial)
        return found


class InexactTest(unittest.TestCase):
    def test_sound_answers_are_right_and_others_wrong(self):
        for name, (model, inputs, changes) in inexact.TASKS.items():
            judged = Judged(name, model, inputs)
            for what, change in changes.items():
                with self.subTest(f"{name}: {what}"):
                    wrong = judged.wrong_in(inexact.answer(model, *change))
                    if what.startswith("sound"):
                        self.assertEqual(wrong, [])
                    else:
                        self.assertNotEqual(wrong, [])

    def test_most_wrong_ones_pass_the_benchmarks_own_comparison(self):
        """With declared inputs, the usual weights and 1e-2: so it is the rule and the other inputs that refuse them."""
        passing = []
        for name, (model, inputs, changes) in inexact.TASKS.items():
            judged = Judged(name, model, inputs)
            for what, change in changes.items():
                namespace = {}
                exec(compile(inexact.answer(model, *change), "answer.py", "exec"), namespace)
                torch.manual_seed(42)
                answer, arguments = namespace["ModelNew"](), judged.module.make_inputs(42)
                with torch.no_grad():
                    got = answer(*mapped(arguments, torch.clone))
                right = judged.cases.reference(judged.cases.model({}), arguments)[0]
                alike = torch.allclose(got, right, rtol=1e-2, atol=1e-2) if got.is_floating_point() else torch.equal(got, right)
                if alike and not what.startswith("sound"):
                    passing.append(what)
        self.assertGreaterEqual(len(passing), 30, passing)

    def test_an_output_that_is_off_by_next_to_nothing_is_right(self):
        truth = torch.ones(64, 64, dtype=torch.float64)
        got = truth.clone()
        got[3, 5] += 2.0 ** -52
        self.assertLess(Comparison(got, truth, torch.full((64, 64), 1e70, dtype=torch.float64), runs=16).run()["deviation"]["whole"], 1e-60)

    def test_a_gpus_outputs_are_measured_as_a_kernels_are(self):
        torch.manual_seed(1)
        shapes = [(40,), (200,), (16, 33), (5, 300), (24, 18, 20), (3, 2, 40, 130)]
        offs = [lambda own, usual: 25 * own, lambda own, usual: 3 * usual, lambda own, usual: 20 * usual]
        for number, (shape, runs, dtype) in enumerate(itertools.product(shapes, (0, 4, 16), (torch.float32, torch.float64, torch.bfloat16))):
            truth = torch.randn(shape, dtype=torch.float64)
            sigma = 10.0 ** torch.empty(shape, dtype=torch.float64).uniform_(-4, -1) * (torch.rand(shape) > 0.2)
            got = (truth + sigma * torch.randn(shape)).to(dtype)
            # An element that is known well is off by less than the bound, by more and as little as its neighbours are, or by more than they may be.
            known = torch.where(sigma > 0, sigma, 1.0).reshape(-1)
            got.reshape(-1)[known.argmin()] += offs[number // 9 % 3](float(known.min()), float(sigma.square().mean().sqrt()))
            mine = as_text(Comparison(got, truth, sigma, runs).run())
            theirs = asked(got=got.double().reshape(-1).tolist(), truth=truth.reshape(-1).tolist(), sigma=sigma.reshape(-1).tolist(), shape=shape,
                           dtype=str(dtype)[6:], runs=runs)
            decided = asked(measured=mine["deviation"])
            with self.subTest(shape=shape, runs=runs, dtype=dtype):
                for what, value in theirs["deviation"].items():
                    same = decided["count"] if what == "count" else mine["deviation"][what]
                    if what == "slice_name":
                        self.assertEqual(same, value)
                    else:
                        self.assertAlmostEqual(float(same), value, delta=1e-9 * value, msg=what)
                self.assertEqual(decided["why"], theirs["why"])

    def test_a_threshold_that_is_more_than_one_sigma_away_is_crossed(self):
        values = torch.rand(4000, dtype=torch.float64) + 1
        beside = values * 1.7 * (1 - 2.5 * rounding.RMS * rounding.UNIT)

        def run():
            return [torch.where(values * 1.7 > beside, 1.0, -1.0).double()]

        sigma = rounding.sigma_of(run, [torch.ones(4000, dtype=torch.float64)], 16, 5, "fp32", lambda number: True)[0][0]
        self.assertGreater(float((sigma > 2 / 32).double().mean()), 0.98)
        self.assertGreater(2 / float(sigma.square().mean().sqrt()), 4)
        self.assertLess(2 / float(sigma.square().mean().sqrt()), 8, "as a row of them may be off")

    def test_products_that_nothing_disturbs_are_taken_once(self):
        torch.manual_seed(4)
        x, y, w = (torch.rand(each, dtype=torch.float64) for each in ((2, 8, 12, 12), (12, 12), (8, 8, 3, 3)))
        modules = {   # by how often a run of its own takes a product, and by how often in all eight
            "one convolution": (lambda: [torch.nn.functional.conv2d(x.clone(), w, padding=1)], 3, 3),
            "a product of what is disturbed": (lambda: [torch.mm(torch.exp(y), y)], 2, 16),
            "both": (lambda: [torch.mm(torch.mm(y, y), y)], 4, 2 + 16),
            "an operand changed in place": (lambda: [torch.mm(z := y.clone(), y) + z.add_(1)], 2, 16),
        }
        for name, (run, own, in_all) in modules.items():
            with self.subTest(name):
                truth = run()
                with Counted() as counted:
                    sigma, _ = rounding.sigma_of(run, truth, 8, 5, "fp32", lambda number: True)
                self.assertEqual(counted.runs["convolution"] + counted.runs["mm"], in_all)
                with Counted() as counted, mock.patch.object(rounding.KnownProducts, "find", return_value=None):
                    anew, _ = rounding.sigma_of(run, truth, 8, 5, "fp32", lambda number: True)
                self.assertEqual(counted.runs["convolution"] + counted.runs["mm"], 8 * own)
                self.assertTrue(torch.equal(sigma[0], anew[0]))

    def test_a_product_of_the_truth_is_not_taken_again(self):
        torch.manual_seed(4)
        x, w = torch.rand(2, 8, 12, 12, dtype=torch.float64) - 0.5, torch.rand(8, 8, 3, 3, dtype=torch.float64)

        def split_in_place(y):
            """No version tells of this change, as in a recurrent layer."""
            torch.unsafe_split(y, 2, 1)[0].add_(1)
            return y

        for name, change in (("kept", torch.nn.Softplus()), ("in place", torch.nn.ReLU(inplace=True)), ("in place in a part", split_in_place)):
            with self.subTest(name):
                def run():
                    return [change(torch.nn.functional.conv2d(x, w))]
                known = rounding.KnownProducts()
                with rounding.Noting(known):
                    truth = run()
                with Counted() as counted:
                    sigma, _ = rounding.sigma_of(run, truth, 4, 5, "fp32", lambda number: True, known)
                self.assertEqual(counted.runs["convolution"], 2)
                self.assertTrue(torch.equal(sigma[0], rounding.sigma_of(run, truth, 4, 5, "fp32", lambda number: True)[0][0]))

    def test_squares_that_float32_does_not_hold_are_added_up_in_double_precision(self):
        torch.manual_seed(4)
        x, w = torch.rand(16, 24, dtype=torch.float64) + 0.5, torch.rand(24, 8, dtype=torch.float64) + 0.5
        x[3] *= 2.0 ** -60
        x[5], x[7] = 0, x[7] * 2.0 ** 70
        squares = rounding.squares_of(torch.ops.aten.mm.default, (x, w), {}, x @ w)
        self.assertTrue(torch.allclose(squares, x.square() @ w.square(), rtol=1e-12, atol=0))
        x[3] = x[7] = 1
        squares = rounding.squares_of(torch.ops.aten.mm.default, (x, w), {}, x @ w)
        self.assertTrue(torch.allclose(squares, x.square() @ w.square(), rtol=2e-3, atol=0))

    def test_sums_beside_very_large_terms_lose_their_small_ones(self):
        torch.manual_seed(3)
        A, B = torch.rand(24, 8192), torch.rand(20, 8192)
        A[:, ::24] = 2000 * torch.rand(24, 342) - 1000
        B[:, ::24] = 2000 * torch.rand(20, 342) - 1000
        truth, one_by_one = A.double() @ B.double().t(), torch.zeros(24, 20)
        for k in range(8192):
            one_by_one = torch.addcmul(one_by_one, A[:, k:k + 1], B[:, k].unsqueeze(0))
        sigma = rounding.sigma_of(lambda: [A.double() @ B.double().t()], [truth], 4, 5, "fp32", lambda number: True)[0][0]
        self.assertLess(float((one_by_one - truth).norm() / sigma.norm()), 2)

    def test_one_element_just_beyond_a_threshold_may_be_off_as_its_neighbours_may(self):
        truth, sigma = torch.ones(64, 64, dtype=torch.float64), torch.full((64, 64), 1e-6, dtype=torch.float64)
        sigma[3, 5] = sigma[40, 7] = 1e-9
        for places, size, most in (((), 0, 32), (((3, 5),), 4e-6, 32), (((3, 5), (40, 7)), 4e-6, 1e9), (((3, 5),), 2e-5, 1e9)):
            got = truth.clone()
            for place in places:
                got[place] += size
            element = Comparison(got, truth, sigma, runs=16).run()["deviation"]["element"]
            self.assertEqual(element <= 32, most == 32, places)

    def test_disturbances_differ_in_size(self):
        """Of two numbers that are moved alike the difference would stay in every second run."""
        noise = rounding.Rounding(5).noise(torch.zeros(1 << 16, dtype=torch.float64))
        self.assertAlmostEqual(float(noise.square().mean()), 1, delta=0.02)
        self.assertGreater(float(noise.abs().std()), 0.1)
        self.assertGreater(float(noise.abs().min()), 0.7)

    def test_a_stray_element_is_not_held_against_its_row(self):
        truth, sigma = torch.ones(8, 64, 32, dtype=torch.float64), torch.full((8, 64, 32), 1e-5, dtype=torch.float64)
        sigma[7, 3] = 1e-6
        got = truth.clone()
        got[7, 3, 5] += 7e-5   # 70 of its own sigma
        self.assertLess(Comparison(got, truth, sigma, runs=16).run()["deviation"]["slice"], 8)
        got[7, 3] += 2e-5
        self.assertGreater(Comparison(got, truth, sigma, runs=16).run()["deviation"]["slice"], 8)

    def test_a_slice_of_few_elements_that_count_is_held_to_what_they_are(self):
        truth, sigma = torch.ones(64, 32, dtype=torch.float64), torch.full((64, 32), 1e-9, dtype=torch.float64)
        sigma[7, 3] = 1e-4
        got = truth.clone()
        got[7, 3] += 2e-3   # 20 sigma, where 32 are right
        self.assertLess(Comparison(got, truth, sigma, runs=16).run()["deviation"]["slice"], 8)
        self.assertGreater(Comparison(got, truth, sigma).run()["deviation"]["slice"], 8, "of sigma that is known, and not sampled")

    def test_what_sound_computations_show_may_be_there(self):
        truth, sigma = torch.ones(64, 64, dtype=torch.float64), torch.full((64, 64), 1e-6, dtype=torch.float64)
        got = truth.clone()
        got[3, 5] = got[40, 7] = 1.3
        for sound, right in ((comparison.Sound(), False), (comparison.Sound(error=0.2, strays=1), True), (comparison.Sound(error=0.1, strays=1), False)):
            found = Comparison(got, truth, sigma, runs=64, sound=sound).run()["deviation"]
            self.assertEqual(found["element"] <= 32 and found["slice"] <= 8, right, sound)


if __name__ == "__main__":
    unittest.main()
