# SPDX-License-Identifier: Apache-2.0
"""cudal1.verify, bench and optimize, on the simulator."""
import os
import pathlib
import tempfile
import types
import unittest

import cudal1

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "softmax.cu"
SMALL = {"device": "sim", "sizes": {"N": 16, "M": 256}}


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.task = self.folder / "softmax.cu"
        self.task.write_text(EXAMPLE.read_text())
        self.wrong = self.folder / "wrong.cu"
        self.wrong.write_text(EXAMPLE.read_text().replace("/ sum", "/ (sum + 1)"))

    def test_variants_are_judged(self):
        judged = cudal1.verify(self.task, self.task, **SMALL)
        self.assertEqual((judged.right, judged.faster, judged.verdict), (True, False, "PREDICTED_EQUIVALENT"))
        wrong = cudal1.verify(self.task, self.wrong, **SMALL)
        self.assertEqual((wrong.right, wrong.verdict, wrong.speedup), (False, "WRONG_RESULT", None))
        self.assertTrue(wrong.message)
        result = cudal1.bench(self.task, self.task, self.wrong, quick=True, **SMALL)
        self.assertEqual([each.file for each in result.variants], [str(self.task), str(self.wrong)])
        self.assertEqual(result.best.file, str(self.task))
        self.assertRegex(str(result.best.speedup), r"^1x \[0\.\d+, 1\.\d+\] predicted$")
        several = cudal1.bench(self.task, self.task, gpu=["a100", "T4"], quick=True, **SMALL)
        self.assertEqual({name: each.device for name, each in several.items()}, {"A100": "sim:A100", "T4": "sim:T4"})

    def test_what_cannot_be_done_is_an_error_with_its_code(self):
        with self.assertRaisesRegex(cudal1.Error, "none.cu") as caught:
            cudal1.verify(self.folder / "none.cu", self.task, device="sim")
        self.assertEqual(caught.exception.exit_code, 11)
        with self.assertRaisesRegex(cudal1.Error, "H20O"):
            cudal1.bench(self.task, self.task, device="sim", gpu="H20O")
        with self.assertRaises(TypeError):
            cudal1.verify(7, self.task)

    def test_a_search_tells_its_events_and_goes_on(self):
        events = []
        out = self.folder / "best.cu"
        begin = dict(output=out, model="builtin", run=self.folder / "run", rounds=1, samples=2, **SMALL)
        result = cudal1.optimize(types.SimpleNamespace(__file__=str(self.task)), on_event=events.append, **begin)
        self.assertIn("started", [event["event"] for event in events])
        self.assertEqual((result.verdict, result.speedup.predicted, result.stopped_because), ("PREDICTED_FASTER", True, "rounds"))
        self.assertGreater(result.speedup.low, 1)
        self.assertEqual(result.best, out.read_text())
        self.assertIn("// cudal1 verified this kernel at N=16 M=256; ", result.best)
        again = cudal1.optimize(self.task, **begin)
        self.assertEqual((again.run, again.speedup), (result.run, result.speedup))


if __name__ == "__main__":
    unittest.main()
