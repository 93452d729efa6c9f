# SPDX-License-Identifier: Apache-2.0
"""Classes of precision, operation by operation."""

import sys
import unittest

from rule import numbers, within
from tasks import HERE
import torch

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
import comparison  # noqa: E402
from comparison import Comparison  # noqa: E402
from lent_cases import as_text  # noqa: E402
from precision import allowed, flags, kind_of, operand_roundoff  # noqa: E402
from rounding import sigma_of  # noqa: E402

aten = torch.ops.aten
comparison.rule.update(numbers())


class PrecisionTest(unittest.TestCase):
    def test_an_operation_is_known_by_every_name_that_it_has(self):
        for each in (torch.conv2d, torch.nn.functional.conv_transpose3d, aten.convolution.default, "aten::cudnn_convolution", aten._cudnn_rnn.default,
                     "torch.nn.functional.conv1d", torch.lstm):
            self.assertEqual(kind_of(each), "convolution", each)
        for each in (torch.matmul, torch.nn.functional.linear, aten.addmm.default, aten.bmm, "aten::mv", torch.Tensor.__matmul__, torch.einsum,
                     "_scaled_dot_product_efficient_attention"):
            self.assertEqual(kind_of(each), "product", each)
        for each in (torch.mul, aten.add.Tensor, torch.softmax, "aten::_convert_indices_from_coo_to_csr", torch.outer):
            self.assertEqual(kind_of(each), "", each)

    def test_the_reference_class_allows_what_the_default_flags_allow(self):
        self.assertEqual(allowed("reference"), (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32))
        self.assertEqual([operand_roundoff(each, "reference") for each in (torch.conv2d, torch.mm, torch.exp)], [2.0 ** -11, 2.0 ** -24, 2.0 ** -24])

    def test_the_other_classes_hold_for_convolutions_and_products_alike(self):
        for precision, roundoff in (("fp32", 2.0 ** -24), ("tf32", 2.0 ** -11), ("half", 2.0 ** -8)):
            for each in (torch.conv2d, torch.mm):
                self.assertEqual(operand_roundoff(each, precision), roundoff)
            self.assertEqual(operand_roundoff(torch.exp, precision), 2.0 ** -24)
            self.assertEqual(allowed(precision), (precision != "fp32",) * 2)

    def test_flags_hold_for_a_while_only(self):
        with flags("fp32"):
            self.assertFalse(torch.backends.cudnn.allow_tf32)
        self.assertTrue(torch.backends.cudnn.allow_tf32)

    def test_an_unknown_class_is_an_error(self):
        with self.assertRaises(ValueError):
            operand_roundoff(torch.mm, "fp64")


class LargeLogitsTest(unittest.TestCase):
    """Attention over inputs with stray elements of up to 2^32 has logits beyond 2^64."""

    def test_no_disturbed_run_blows_up(self):
        torch.manual_seed(0)
        values, x = torch.randn(256, 32), 2.0 ** 31 * torch.randn(256, 32)

        def attend(x, values):
            return torch.nn.functional.layer_norm(torch.softmax(x @ x.t(), dim=-1) @ values + values, (32,))
        wide = x.double(), values.double()
        truth = attend(*wide)
        sigma, runs = sigma_of(lambda: [attend(*wide)], [truth], 4, 7, "fp32", lambda number: True)
        self.assertFalse(bool((sigma[0] == 0).any()))   # as where NaN stood in all runs
        self.assertTrue(within(as_text(Comparison(attend(x, values), truth, sigma[0], runs).run())))


if __name__ == "__main__":
    unittest.main()
