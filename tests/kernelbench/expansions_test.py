# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch that are recorded as simpler ones give what PyTorch's own give, and recurrent layers have a right answer."""

import copy
import sys
import unittest
import unittest.mock
import warnings

from tasks import HERE, TaskTest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
sys.path.insert(0, str(HERE / "breadth"))
from expand_indices import item  # noqa: E402
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


class CallsTest(unittest.TestCase):
    """Calls that the tasks of breadth/ do not make."""
    DATA = {"x": torch.arange(24.0).reshape(2, 3, 4) - 7, "n": torch.tensor([[3.0, float("nan"), 1.0, float("nan")], [2.0, 2.0, 0.0, -1.0]]), "v": torch.tensor([0, -1, 1]),
            "i": torch.tensor([[2, 0, 1], [1, 2, 0]]), "k": torch.tensor([[5, 3, 9], [1, 1, 0]], dtype=torch.int32)}

    def same(self, *calls):
        for call in calls:
            with self.subTest(call):
                expected = list(tensors_in(eval(call, globals(), copy.deepcopy(self.DATA))))
                data = copy.deepcopy(self.DATA)
                recorder = Recorder({id(each): name for name, each in data.items()})
                with recorder:
                    results = list(tensors_in(eval(call, globals(), data)))
                self.assertEqual(len(results), len(expected))
                for result, own in zip(results, expected):
                    torch.testing.assert_close(result, own, equal_nan=True)

    def test_keywords_are_pytorchs(self):
        self.same("F.pad(input=x, pad=(1, -1))", "torch.tile(x, dims=(1, 2))", "torch.tile(input=x, dims=(2,))", "x.tile(2, 1, 1)", "torch.gather(input=k, dim=1, index=i)",
                  "torch.topk(input=x, k=2)", "torch.sort(input=x, descending=True)", "x.clone().fill_(value=0)", "x.fill_(3.0)", "torch.split(x, split_size_or_sections=[1, 2], dim=1)",
                  "F.interpolate(input=x, scale_factor=2.0, mode='linear')", "torch.cdist(x1=x, x2=x)", "torch.tensordot(a=x, b=x, dims=([0, 1], [0, 1]))")

    def test_what_an_expansion_cannot_do_is_left_to_pytorch(self):
        recorder, x = Recorder({}), torch.rand(3)
        recorder.names[id(x)] = "x"

        def broken(input):
            input * 2
            raise IndexError
        with unittest.mock.patch.dict("torch_line.EXPANSIONS", {"relu": broken}), recorder:
            torch.relu(x)
        self.assertEqual([each.text for each in recorder.statements], ["torch.relu(x)"])

    def test_indices_wrap_and_are_broadcast(self):
        x, v = self.DATA["x"], self.DATA["v"]
        for index in ((v, v), (v - 1, v, v), (v.unsqueeze(1), v)):   # PyTorch 1.13 does not show an index to a mode
            self.assertTrue(torch.equal(item(x, index), x[index]))
        self.assertIs(item(x, (v, v, v, v)), NotImplemented)
        self.same("x.take_along_dim(v.abs().reshape(1, 3, 1), 2)", "x.take_along_dim(v.abs().reshape(1, 3, 1), -1)",
                  "torch.take_along_dim(n[:1], torch.tensor([[1, 2], [3, 0]]), 1)")

    def test_nan_is_greater_than_all(self):
        self.same("n.sort(dim=-1, stable=True)", "n.sort(dim=-1, descending=True, stable=True)", "n.topk(3)[0]", "n.topk(3, largest=False)[0]",
                  "n.kthvalue(2, -1)[0]", "n.median(-1)[0]", "n.median(-1, True)[0]",
                  "n[:1].median(-1)", "n.median()", "n.cummax(-1)", "n.cummin(-1)", "n.cummax(0)")

    def test_types_stay(self):
        self.same("k.sort()[0]", "k.topk(2)[0]", "(k > 2).sort()[0]", "k.to(torch.uint8).median(1)[0]", "k.scatter_add(1, i, k)", "k.index_add(1, v.abs(), k)",
                  "F.interpolate(x.double(), size=7, mode='linear')", "F.fold(x.double().reshape(1, 4, 6), (3, 4), 2)", "F.rrelu(x)")

    def test_norms_keep_dimensions(self):
        self.same("torch.linalg.vector_norm(x, keepdim=True)", "torch.linalg.norm(x, keepdim=True)", "torch.linalg.norm(x)", "torch.linalg.vector_norm(x, 2, (0, 2), True)")

    def test_products_of_any_rank(self):
        self.same("torch.inner(x, x)", "torch.inner(x, n[1])", "torch.inner(n[1], n[1])", "torch.inner(x, n)", "torch.inner(n, x)", "torch.inner(x, x[0, 0, 0])")

    def test_elements(self):
        self.same("torch.nan_to_num((n / 0.0).half())", "torch.nan_to_num((n / 0.0).double(), 1.0)", "torch.nan_to_num(k)", "torch.nan_to_num(n / 0.0)",
                  "F.gaussian_nll_loss(x, x * 2, n[1, 0].expand(2, 3))", "F.gaussian_nll_loss(x, x * 2, x.abs())")

    def test_places_are_where_the_data_is(self):
        x, index = torch.empty(2, 3, 4, 4, device="meta"), torch.empty(2, 3, 4, 2, device="meta", dtype=torch.int64)
        made = []

        class Places(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                if function in (torch.arange, torch.eye):
                    made.append(str((kwargs or {}).get("device")))
                return function(*args, **(kwargs or {}))
        with Places(), Recorder({}):
            for call in ("x.gather(3, index)", "x.sort()", "x.median(1)", "x.cummax(2)", "x.logcumsumexp(3)", "x.scatter(3, index, 0.0)", "x.scatter_add(3, index, x[..., :2])",
                         "F.interpolate(x, size=(7, 9), mode='bilinear')", "F.interpolate(x, size=(7, 9))", "F.fold(x[:, 0], (3, 3), 2)"):
                eval(call, globals(), {"x": x, "index": index})
        self.assertGreater(len(made), 10)
        self.assertEqual(set(made), {"meta"})


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
