# SPDX-License-Identifier: Apache-2.0
"""Products whose operands are the same numbers in every disturbed run of a module, because nothing before them was disturbed: they are
taken once. Of a module that is one convolution, that is all the arithmetic that counts."""

import torch

MOST_BYTES = 2 << 30   # of operands, results and their sigmas


def tensors_among(values):
    """Those of an operation's arguments, in order."""
    if isinstance(values, torch.Tensor):
        return [values]
    return [each for value in values for each in tensors_among(value)] if isinstance(values, (list, tuple)) else []


def others_among(values):
    """What is no tensor, as text: strides, paddings, factors."""
    if isinstance(values, torch.Tensor):
        return "tensor"
    return str([others_among(each) for each in values]) if isinstance(values, (list, tuple)) else repr(values)


class Product:
    """One that was taken: `out`, and the sigma of its rounding, which is None where it is exact."""

    def __init__(self, function, args, kwargs, out, sigma):
        self.function, self.others, self.out, self.sigma = function, (others_among(args), str(kwargs)), out, sigma
        self.operands = [(each, each._version) for each in tensors_among(args)]

    def bytes(self):
        held = [each for each, _ in self.operands] + [self.out] + ([] if self.sigma is None else [self.sigma])
        return sum(each.numel() * each.element_size() for each in held)

    def is_of(self, function, args, kwargs):
        """Of these very numbers. A module may have changed an operand since, in place."""
        operands = tensors_among(args)
        return (function is self.function and (others_among(args), str(kwargs)) == self.others and len(operands) == len(self.operands)
                and all(mine._version == version and mine.shape == theirs.shape and mine.dtype == theirs.dtype and torch.equal(mine, theirs)
                        for (mine, version), theirs in zip(self.operands, operands)))


class KnownProducts:
    """Those of a module's runs, by their number within a run."""

    def __init__(self):
        self.products, self.bytes = {}, 0

    def find(self, number, function, args, kwargs):
        """None where it is not known; one that differs once is not looked at again."""
        product = self.products.get(number)
        if product is None or product.is_of(function, args, kwargs):
            return product
        self.bytes -= product.bytes()
        self.products[number] = None
        return None

    def keep(self, number, product):
        if number not in self.products and self.bytes + product.bytes() <= MOST_BYTES:
            self.products[number] = product
            self.bytes += product.bytes()
