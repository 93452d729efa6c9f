# SPDX-License-Identifier: Apache-2.0
"""A task too large for the truth of all of it: PyTorch's float32 stands for most rows, and its own error is nobody else's."""

import contextlib
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from rule import compared, numbers
from tasks import HERE
import torch

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
import baselines  # noqa: E402
import comparison  # noqa: E402
import lent_cases  # noqa: E402
from host import SPARE, Host  # noqa: E402
from task_cases import LEAST_MANY, MANY_RUNS, MOST_RUNS, Cases  # noqa: E402
from task_module import WEIGHT_SEED, Refusal, TaskModule, outline  # noqa: E402

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

    @contextlib.contextmanager
    def opened(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(lent_cases, "WHOLE_LIMIT", 1000):
            path = pathlib.Path(folder) / "task.py"
            path.write_text(TASK)
            task = TaskModule(str(path), TASK, {}, "cpu")
            cases = Cases(task)
            task.outputs = [{"name": "output", "tensor": outline(task.forward(cases.model({}), task.make_inputs(WEIGHT_SEED))[0])}]
            lent = lent_cases.LentCases(cases)
            lent.offer()
            yield lent
            lent.forget()

    def judged(self, answer):
        with self.opened() as lent:
            trial = {"pattern": "declared", "seed": 5, "turn": 0}
            lent.make(0, trial)
            lent.sets[0][-1].copy_(answer(*lent.cases.arguments(trial)))
            found, right = compared(lent, 0, trial)
            self.assertIn("secret slices", found["precision"])
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

    def test_what_few_runs_refuse_is_right_if_many_allow_it(self):
        """Sigma of few runs may be far too small by chance: here that of one column."""
        asked, sound = [], Cases.sound

        def unlucky(cases, model, arguments, most_runs=MOST_RUNS, run_class=None):
            truth, _ = sound(cases, model, arguments, most_runs, run_class)
            asked.append(most_runs)
            sigma = torch.full_like(truth[0], 1e-6)
            if most_runs < MANY_RUNS:
                sigma[:, 7] = 1e-12
            return truth, [sigma]

        with mock.patch.object(Cases, "sound", unlucky):
            self.assertTrue(self.judged(lambda x, shift: x + 2e-6))
            self.assertIn(MANY_RUNS, asked)
            asked.clear()
            self.assertFalse(self.judged(lambda x, shift: 2 * x))
            self.assertNotIn(MANY_RUNS, asked, "what is wrong as a whole is not looked at again")

        def beyond(x, shift):
            """A row in two has one element that is beyond its bound, and the output as a whole is not."""
            y = x + 1e-6
            y[::2, 9] += 3.3e-5
            return y

        def known(cases, model, arguments, *more):
            truth, _ = sound(cases, model, arguments, *more)
            return truth, [torch.full_like(truth[0], 1e-6)]

        with mock.patch.object(Cases, "sound", known), mock.patch.object(lent_cases, "SLICES", 64):
            self.assertFalse(self.judged(beyond))

    def test_what_many_runs_say_of_a_trial_counts_for_the_next_candidate(self):
        asked, sound = [], Cases.sound

        def unlucky(cases, model, arguments, most_runs=MOST_RUNS, run_class=None):
            asked.append(most_runs)
            truth, _ = sound(cases, model, arguments, most_runs, run_class)
            sigma = torch.full_like(truth[0], 1e-6)
            if most_runs < MANY_RUNS:
                sigma[:, 7] = 1e-12
            else:
                cases.runs = LEAST_MANY   # as of a slow module
            return truth, [sigma]

        trial = {"pattern": "declared", "seed": 5, "turn": 0}
        with self.opened() as lent, mock.patch.object(Cases, "sound", unlucky):
            lent.small = True
            lent.make(0, trial)
            x, shift = lent.cases.arguments(trial)
            for number in range(3):
                lent.sets[0][-1].copy_(x + 4e-7 * (number + 1))
                self.assertTrue(compared(lent, 0, trial)[1])
            lent.sets[0][-1].copy_(x)
            lent.sets[0][-1][:8, 3] += 1e-4   # looked at again, by the same runs; sound computations are as far off in one row
            self.assertTrue(compared(lent, 0, trial)[1])
            self.assertEqual(asked, [MOST_RUNS, MANY_RUNS])
            lent.sets[0][-1].copy_(2 * x)
            self.assertFalse(compared(lent, 0, trial)[1])

    def test_more_than_a_share_of_memory_is_taken_where_nobody_has_it(self):
        host, limits, full = Host(), [], torch.cuda.OutOfMemoryError("CUDA out of memory")
        with mock.patch.object(host, "limit_to", limits.append), mock.patch.object(Cases, "share", 4 << 30), mock.patch("torch.cuda.empty_cache"), \
                mock.patch("torch.cuda.memory_reserved", lambda device: 3 << 30), mock.patch("torch.cuda.mem_get_info", lambda device: (20 << 30, 80 << 30)):
            work = mock.Mock(side_effect=[full, "done"])
            self.assertEqual(host.beyond_share(work), "done")
            self.assertEqual(limits, [(23 << 30) - SPARE, 4 << 30])
            with self.assertRaises(torch.cuda.OutOfMemoryError):
                host.beyond_share(mock.Mock(side_effect=[full, full]))
            self.assertEqual(limits[2:], [(23 << 30) - SPARE, 4 << 30])
            with self.assertRaises(ValueError):
                host.beyond_share(mock.Mock(side_effect=[ValueError()]))
        with mock.patch.object(Cases, "share", 0), self.assertRaises(torch.cuda.OutOfMemoryError):   # all of the memory was its own
            host.beyond_share(mock.Mock(side_effect=[full, "done"]))

    def test_memory_that_others_take_decides_nothing(self):
        """Where float64 finds no memory a task without others is judged by float32; beside others it must be tried again."""
        full = Refusal("forward failed")
        full.__cause__ = torch.cuda.OutOfMemoryError("CUDA out of memory")
        with self.opened() as lent, mock.patch.object(Cases, "in_double", side_effect=full):
            cases = lent.cases
            arguments = cases.arguments({"pattern": "declared", "seed": 5})
            cases.sound(cases.model({}), arguments)
            self.assertIn("float32", cases.precision)
            with mock.patch.object(Cases, "sharers", 2), self.assertRaises(Refusal):
                cases.sound(cases.model({}), arguments)

    def test_fewer_rows_are_taken_where_they_are_large(self):
        with self.opened() as lent:
            self.assertEqual(lent.slices(), 4)
            with mock.patch.object(lent_cases, "SLICE_BYTES", 2 * lent.task.bytes() // 4096):
                self.assertEqual(lent.slices(), 2)
            with mock.patch.object(lent_cases, "SLICE_BYTES", 1):
                self.assertEqual(lent.slices(), 1)

    def test_what_is_made_on_the_way_makes_a_task_large(self):
        with self.opened() as lent, mock.patch.object(lent_cases, "WHOLE_LIMIT", 1 << 30):
            self.assertTrue(lent_cases.LentCases(lent.cases).small)
            lent.cases.beside = 2 << 30
            self.assertFalse(lent_cases.LentCases(lent.cases).small)
            self.assertEqual(lent.slices(), 4, "of 4096")

    def test_many_operations_make_a_task_large(self):
        with self.opened() as lent, mock.patch.object(lent_cases, "WHOLE_LIMIT", 1 << 30):
            lent.cases.operations = lent_cases.MOST_OPERATIONS
            self.assertTrue(lent_cases.LentCases(lent.cases).small)
            lent.cases.operations *= 2048
            self.assertFalse(lent_cases.LentCases(lent.cases).small)
            self.assertEqual(lent.slices(), 2, "of 4096")

    def test_without_memory_for_double_precision_the_class_still_counts(self):
        """PyTorch itself is as inexact as the class of precision allows: so may an answer be."""
        with self.opened() as lent:
            cases = lent.cases
            arguments, model = cases.arguments({"pattern": "declared", "seed": 5}), cases.model({})
            right = cases.plain(model, arguments)
            near = [each * (1 + 2.0 ** -12) for each in right]
            plain = cases.rough_sigma(right, model, arguments)
            with mock.patch.object(cases.task, "forward", lambda *given: near):
                self.assertGreater(float(cases.rough_sigma(right, model, arguments)[0]), 20 * float(plain[0]))

    def test_a_closer_look_goes_on_where_all_rows_are_known_now(self):
        """The truth of some rows was not kept, and is taken anew."""
        with self.opened() as lent:
            trial = {"pattern": "declared", "seed": 5, "turn": 0}
            lent.make(0, trial)
            x, shift = lent.cases.arguments(trial)
            for answer, right in ((x, True), (2 * x, False)):
                lent.sets[0][-1].copy_(answer)
                lent.expected = {}
                with mock.patch.object(lent_cases.LentCases, "separable_rows", return_value=None), mock.patch.object(lent_cases.LentCases, "fits", return_value=True):
                    found = lent.look_closer(0, trial, 0)["output"]
                self.assertEqual(float(found["relative_l2"]) < 1e-6, right)

    def test_a_baseline_is_not_given_up_for_memory_that_others_take(self):
        def fails(*given):
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

        for crowded in (False, True):
            watch = baselines.Stopwatch.__new__(baselines.Stopwatch)
            watch.held, watch.failed, watch.ahead, watch.build, watch.sets, watch.crowded = {}, {}, {}, fails, [[]], crowded
            with mock.patch.object(baselines, "Baseline", fails):
                if crowded:
                    self.assertRaises(torch.cuda.OutOfMemoryError, watch.prepare, "eager")
                else:
                    self.assertIn("out of memory", watch.prepare("eager")["unavailable"])

    def test_truths_are_kept_when_other_memory_is_lent_and_make_room_for_those_of_new_trials(self):
        with self.opened() as lent:
            one = lent.expectation({"pattern": "declared", "seed": 0}, 0).bytes()
            with mock.patch.object(lent, "room_for", lambda more, kept: more + kept <= 3 * one):
                def kept_of(*seeds):
                    """Which trials' truths stay after these, whose truths are asked for with memory that was lent anew."""
                    lent.detach()
                    lent.offer()
                    for seed in seeds:
                        lent.expectation({"pattern": "declared", "seed": seed}, 0)
                    return [key[0] for key in lent.expected]

                self.assertEqual(kept_of(0, 1), [0, 1])
                first = lent.expectation({"pattern": "declared", "seed": 0}, 0)
                self.assertEqual(kept_of(1, 2, 3), [1, 2, 3], "the one that is not asked for again goes")
                self.assertEqual(kept_of(1, 2, 3, 4), [1, 2, 3], "what was asked for stays")
                self.assertIsNot(lent.expectation({"pattern": "declared", "seed": 0}, 0), first)


if __name__ == "__main__":
    unittest.main()
