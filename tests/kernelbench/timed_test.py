# SPDX-License-Identifier: Apache-2.0
"""Times of published answers, on a processor and against a rival that always takes as long (timed_answers.cpp): the sequence of a
GPU with the processor's clock. An honest answer is as fast as it is; none that knows, computes or says something beforehand is."""

import json
import os
import subprocess
import unittest

from tasks import HERE, PYTHON, TaskTest

ANSWERS = HERE.parent / "cheats" / "answers"
TASK = """import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.t() / 20, dim=1)
def get_inputs():
    return [torch.randn(48, 48)]
def get_init_inputs():
    return []
"""
RIVAL_MS = "1000"
# What each is caught by; IMPLAUSIBLE is our clock against its own. A call's work is to wait for 50 ms, so that other programs on
# this machine make nothing seem quick or slow.
CHEATS = {"knows_which_is_judged.py": {"WRONG_RESULT"}, "stale_outputs.py": {"WRONG_RESULT"}, "done_too_early.py": {"WRONG_RESULT"},
          "done_before_the_work.py": {"WRONG_RESULT"}, "declared_when_timed.py": {"WRONG_RESULT"}, "forged_clock.py": {"IMPLAUSIBLE"},
          "forged_reply.py": {"IMPLAUSIBLE"}}
HONEST = """import time
class ModelNew(nn.Module):
    def forward(self, x):
        time.sleep(0.05)
        return torch.softmax(x @ x.t() / 20, dim=1)
"""


class TimedTest(TaskTest):
    def judged(self, *answers, rival=RIVAL_MS, without=""):
        task = self.write("task.py", TASK)
        environment = self.environment | ({"CUDAL1_WITHOUT": without} if without else {})
        ran = subprocess.run([os.environ["CUDAL1_TIMED_ANSWERS"], os.environ["CUDAL1_TEST_BINARY"], PYTHON, str(task), rival, *map(str, answers)],
                             cwd=self.work, env=environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def test_only_honest_answers_are_fast(self):
        honest = self.write("honest.py", "import torch\nimport torch.nn as nn\n" + HONEST)
        answers = [honest, ANSWERS / "computed_beforehand.py", ANSWERS / "planted_module.py", ANSWERS / "shorter_memory.py",
                   *[ANSWERS / name for name in CHEATS]]
        own, beforehand, planted, shorter, *cheats = self.judged(*answers)
        for each in (own, planted, shorter):   # the last two are honest but for what they try in vain
            self.assertIn(each["verdict"], {"FASTER", "INCONCLUSIVE"}, each)
        # Its thread starts when the inputs are there, as forward does: the time has all of its work, or the verdict is none.
        self.assertIn(beforehand["verdict"], {"FASTER", "INCONCLUSIVE", "IMPLAUSIBLE", "WRONG_RESULT"}, beforehand)
        if own["verdict"] == beforehand["verdict"] == "FASTER":
            self.assertLess(self.speedup(beforehand), 2 * self.speedup(own), f"{beforehand} {own}")
        for (name, verdicts), judgement in zip(CHEATS.items(), cheats):
            with self.subTest(name):
                self.assertIn(judgement["verdict"], verdicts, judgement)

    def test_without_its_defence_each_is_believed(self):
        """So it is the defence that catches it. The other ones of CHEATS take longer and are believed, too, but for stale_outputs.py, which is
        found while it is verified."""
        for without, names in (("timed_outputs", ["knows_which_is_judged.py", "done_before_the_work.py"]), ("own_clock", ["forged_clock.py"])):
            for name, judgement in zip(names, self.judged(*[ANSWERS / name for name in names], without=without)):
                with self.subTest(name):
                    self.assertIn(judgement["verdict"], {"FASTER", "INCONCLUSIVE"}, judgement)   # the latter on a busy machine
                    self.assertGreater(self.speedup(judgement), 100, judgement)                  # honest ones take a twentieth of the rival

    def test_one_that_stops_itself_or_its_reply_is_not_waited_for(self):
        for judgement in self.judged(ANSWERS / "stops_itself.py", ANSWERS / "endless_frame.py", rival=f"{RIVAL_MS}/4"):
            self.assertEqual(judgement["verdict"], "RUNTIME_FAILED", judgement)
            self.assertIn("did nothing for 4 s, and gave no answer", judgement["message"])

    @staticmethod
    def speedup(judgement):
        return float(judgement["message"].split("x")[0])


if __name__ == "__main__":
    unittest.main()
