# SPDX-License-Identifier: Apache-2.0
"""PyTorch beside kernel files: nothing is claimed of it on the simulator; on a GPU its times are measured, and reported."""

import unittest

from tasks import TaskTest
import fixture
import torch


class BesideTest(TaskTest):
    def test_nothing_is_claimed_on_the_simulator(self):
        task, variant = self.write("task.cu", fixture.TASK), self.write("variant.cu", fixture.FASTER)
        self.assertNotIn("baselines", self.run_cli("bench", task, variant, "--device", "sim", "--json").json()["variants"][0]["judgement"])
        self.assertNotIn("PyTorch", self.run_cli("bench", task, variant, "--device", "sim").out)
        asked = self.run_cli("bench", task, variant, "--device", "sim", "--baseline", "eager")
        self.assertIn("--baseline is left out: PyTorch is timed on a GPU only", asked.err)

    @unittest.skipUnless(torch.cuda.is_available(), "PyTorch finds no GPU")
    def test_eager_and_compile_are_timed_on_a_gpu(self):
        task, variant = self.write("task.cu", fixture.TASK), self.write("variant.cu", fixture.FASTER)
        options = ["--set", "N=4096", "--set", "M=4096", "--device", "cuda:0", "--no-sanitizer", "--no-counters"]
        judged = {}
        for extra in ((), ("--baseline", "graph"), ("--no-pytorch",)):
            judged[extra] = self.run_cli("bench", task, variant, *options, *extra, "--json").json()["variants"][0]["judgement"]
            print(extra, judged[extra].get("baselines"), judged[extra]["workloads"], judged[extra]["step_seconds"])
        self.environment["CUDAL1_PYTHON"] = "/bin/false"
        without = self.run_cli("bench", task, variant, *options)
        self.assertNotIn("PyTorch", without.out + without.err)
        for extra, names in (((), ["eager", "compile"]), (("--baseline", "graph"), ["graph"]), (("--no-pytorch",), [])):
            with self.subTest(extra):
                timed = judged[extra].get("baselines", [])
                self.assertEqual([each["name"] for each in timed], names)
                for each in timed:
                    self.assertEqual(each["failed"], "")
                    # A sum with one is bounded by memory, whoever computes it.
                    self.assertGreater(each["speedup"]["value"], 0.7)
                    self.assertLess(each["speedup"]["value"], 2)
                    self.assertAlmostEqual(each["speedup"]["value"], each["time_ms"] / judged[extra]["workloads"][0]["time_ms"], delta=0.1)


if __name__ == "__main__":
    unittest.main()
