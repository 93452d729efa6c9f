# SPDX-License-Identifier: Apache-2.0
"""Products whose operands are the same numbers in every run of a module, because nothing before them was disturbed: they are taken once.
Of a module that is one convolution, that is all the arithmetic that counts."""

import torch

from comparison import all_true

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
    """One that was taken. A module may change its operands later on, in place: then it is not known any more. `out` is nobody else's."""

    def __init__(self, function, args, kwargs, out):
        self.function, self.others, self.out = function, (others_among(args), str(kwargs)), out
        self.operands = tensors_among(args)
        self.versions = self.versions_now()
        self.has_sigma, self.sigma = False, None   # of its rounding; None as well where it is exact

    def versions_now(self):
        return [None if each.is_inference() else each._version for each in self.operands]   # PyTorch does not count changes of inference tensors

    def bytes(self):
        return sum(each.numel() * each.element_size() for each in self.operands + [self.out, self.out])   # sigma is as large

    def has_changed(self):
        return None in self.versions or self.versions_now() != self.versions

    def is_of(self, function, args, kwargs):
        """Of these very numbers."""
        operands = tensors_among(args)
        return (function is self.function and (others_among(args), str(kwargs)) == self.others and len(operands) == len(self.operands)
                and all(mine.dtype == theirs.dtype and mine.shape == theirs.shape for mine, theirs in zip(self.operands, operands))
                and all_true((mine == theirs).all() for mine, theirs in zip(self.operands, operands)))


class KnownProducts:
    """Those of a module's runs, by their number within a run."""

    def __init__(self):
        self.products, self.bytes = {}, 0
        self.repeated = {}   # by the number of an operation within a run, what was seen of its terms in the first

    def find(self, number, function, args, kwargs):
        """None where it is not known; one that differs once is not looked at again."""
        product = self.products.get(number)
        if product is None:
            return None
        if not product.has_changed() and product.is_of(function, args, kwargs):
            return product
        self.bytes -= product.bytes()
        if product.has_changed():
            del self.products[number]
        else:
            self.products[number] = None
        return None

    def keep(self, number, product):
        if number not in self.products and self.bytes + product.bytes() <= MOST_BYTES:
            self.products[number] = product
            self.bytes += product.bytes()
        return product
