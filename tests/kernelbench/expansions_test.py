# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch that are recorded as simpler ones give what PyTorch's own give, and recurrent layers have a right answer."""

import copy
import sys
import unittest
import warnings

from tasks import HERE, TaskTest
import torch

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
sys.path.insert(0, str(HERE / "breadth"))
from task_module import tensors_in  # noqa: E402
from torch_line import Recorder  # noqa: E402
import write_tasks  # noqa: E402

RECORDED_ALONE = {"recurrent"}   # whose steps have no values while they are recorded
RANDOM = ("gumbel", "spectral_norm", "Lazy")
LSTM = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = nn.{layer}
    def forward(self, x):
        return self.m(x)[0]
"""


class ExpansionTest(unittest.TestCase):
    def outputs(self, source, recorder=None):
        namespace = {}
        exec(source, namespace)
        torch.manual_seed(0)
        model, inputs = namespace["Model"](), namespace["get_inputs"]()
        with torch.no_grad():
            if recorder is None:
                return list(tensors_in(model(*copy.deepcopy(inputs))))
            with recorder:
                return list(tensors_in(model(*copy.deepcopy(inputs))))

    def test_what_is_recorded_gives_what_pytorch_gives(self):
        compared = 0
        for group, rows in write_tasks.groups().items():
            for row in rows if group not in RECORDED_ALONE else ():
                source, title = write_tasks.task(*row)
                if any(word in title for word in RANDOM):
                    continue
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        expected = self.outputs(source)
                except Exception:   # of a newer PyTorch
                    continue
                with self.subTest(title), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for own, recorded in zip(expected, self.outputs(source, Recorder({})), strict=True):
                        torch.testing.assert_close(recorded, own, rtol=1e-4, atol=1e-5, equal_nan=True)
                compared += 1
        self.assertGreater(compared, 500)


class RecurrenceTest(TaskTest):
    def test_recurrent_layers_have_a_right_answer(self):
        layers = {"1_lstm.py": "LSTM(6, 5, batch_first=True)", "2_gru.py": "GRU(6, 5, bidirectional=True)", "3_rnn.py": "RNN(6, 5, nonlinearity='relu')"}
        (self.work / "tasks").mkdir()
        for name, layer in layers.items():
            self.module(LSTM.format(layer=layer), "return [torch.rand(3, 2, 6)]", name=f"tasks/{name}")
        result = self.run_cli("sweep", str(self.work / "tasks"), "--device", "sim", "--model", "builtin", "--rounds", "1", "--samples", "1", "--confirmations", "0", "--out", str(self.work / "sweep"))
        self.assertIn("3 verified", result.out)


if __name__ == "__main__":
    unittest.main()
