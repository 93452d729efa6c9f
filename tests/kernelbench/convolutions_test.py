# SPDX-License-Identifier: Apache-2.0
"""Convolutions in double precision as products of unfolded windows, beside PyTorch's own."""
import pathlib
import random
import sys
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib" / "pytorch"))
import double_convolutions  # noqa: E402


def drawn(source):
    """Arguments of aten.convolution."""
    axes, groups, transposed = source.choice([1, 2, 3]), source.choice([1, 1, 2, 3]), source.random() < 0.5
    of_group, results = source.choice([2, 3, 4]), source.choice([1, 2, 4])
    kernel, stride, dilation = ([source.randint(1, most) for _ in range(axes)] for most in (3, 3, 2))
    padding = [source.randint(0, 2) for _ in range(axes)]
    more = [source.randint(0, max(by, step) - 1) if transposed else 0 for by, step in zip(stride, dilation)]
    values = torch.randn(source.choice([1, 3]), groups * of_group, *[source.randint(6, 12) for _ in range(axes)], dtype=torch.float64)
    shape = [groups * of_group, results] if transposed else [groups * results, of_group]
    bias = torch.randn(groups * results, dtype=torch.float64) if source.random() < 0.5 else None
    return values, torch.randn(*shape, *kernel, dtype=torch.float64), bias, stride, padding, dilation, transposed, more, groups


class Convolutions(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.bytes = double_convolutions.UNFOLDED_BYTES

    def tearDown(self):
        double_convolutions.UNFOLDED_BYTES = self.bytes

    def test_every_kind_is_pytorchs_own(self):
        source, seen = random.Random(1), 0
        for most in [self.bytes, 20_000, 1]:   # whole, by samples, and by rows of one
            double_convolutions.UNFOLDED_BYTES = most
            for _ in range(100):
                arguments = drawn(source)
                try:
                    wanted = torch.ops.aten.convolution(*arguments)
                except RuntimeError:   # an output padding that it does not take
                    continue
                got = double_convolutions.convolution(*arguments)
                self.assertEqual(got.shape, wanted.shape)
                self.assertLess(float((got - wanted).abs().max()), 1e-12, arguments[3:])
                seen += 1
        self.assertGreater(seen, 200)

    def test_the_mode_takes_modules_in_double_precision_alone(self):
        taken = []

        def noted(*arguments):
            taken.append(arguments[0].dtype)
            return torch.ops.aten.convolution(*arguments)

        usual, double_convolutions.convolution = double_convolutions.convolution, noted
        try:
            with torch.no_grad(), double_convolutions.DoubleConvolutions():
                torch.nn.Conv2d(4, 3, 3)(torch.randn(1, 4, 8, 8))
                torch.nn.Conv2d(4, 3, 3).double()(torch.randn(1, 4, 8, 8, dtype=torch.float64))
                torch.nn.ConvTranspose3d(8, 3, 3, stride=2).double()(torch.randn(1, 8, 3, 3, 3, dtype=torch.float64))
                torch.nn.Conv2d(4, 4, 1, groups=4).double()(torch.randn(1, 4, 8, 8, dtype=torch.float64))   # channel by channel
        finally:
            double_convolutions.convolution = usual
        self.assertEqual(taken, [torch.float64, torch.float64])


if __name__ == "__main__":
    unittest.main()
