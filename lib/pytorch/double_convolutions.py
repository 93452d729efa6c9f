# SPDX-License-Identifier: Apache-2.0
"""Convolutions in double precision as products of unfolded windows. What is right is taken in double precision many times, and a GPU's library has fast
products of doubles, but no fast convolutions of them."""

import itertools
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

UNFOLDED_BYTES = 512 << 20   # at most, at a time
LEAST_TERMS = 8              # of one result: with fewer a product does little more than copy


class DoubleConvolutions(TorchDispatchMode):
    """Other operations, and convolutions channel by channel, stay as they are."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.convolution.default and len(args) == 9 and not kwargs and is_worth_it(*args):
            return convolution(*args)
        return function(*args, **(kwargs or {}))


def is_worth_it(values, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    terms = weight.shape[0] // groups if transposed else weight[0].numel()
    return values.dtype == torch.float64 and values.dim() == weight.dim() and values.numel() > 0 and terms >= LEAST_TERMS


def convolution(values, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """The arguments of aten.convolution; stride, padding and the others one number for all axes or one for each."""
    axes = weight.dim() - 2
    stride, padding, dilation, output_padding = (list(each) * axes if len(each) == 1 else list(each) for each in (stride, padding, dilation, output_padding))
    if transposed:
        out = scattered(values, weight, stride, padding, dilation, output_padding, groups)
    else:
        out = gathered(values, weight, stride, padding, dilation, groups)
    return out if bias is None else out.add_(bias.reshape(-1, *[1] * axes))


def gathered(values, weight, stride, padding, dilation, groups):
    samples, channels, kernel = values.shape[0], values.shape[1], list(weight.shape[2:])
    if any(padding):
        values = torch.constant_pad_nd(values, [each for pad in reversed(padding) for each in (pad, pad)])
    extents = [(extent - step * (taps - 1) - 1) // by + 1 for extent, taps, by, step in zip(values.shape[2:], kernel, stride, dilation)]
    at = values.stride()
    windows = values.as_strided([samples, channels, *kernel, *extents],
                                [*at[:2], *[a * step for a, step in zip(at[2:], dilation)], *[a * by for a, by in zip(at[2:], stride)]])
    factor = weight.reshape(groups, weight.shape[0] // groups, -1)
    out = values.new_empty([samples, weight.shape[0], *extents])
    for first, last, low, high in parts(samples, extents, channels * math.prod(kernel) * values.element_size()):
        columns = windows[first:last].narrow(2 + len(kernel), low, high - low)
        product = torch.matmul(factor, columns.reshape(last - first, groups, factor.shape[2], -1))
        out[first:last].narrow(2, low, high - low).copy_(product.reshape(last - first, weight.shape[0], high - low, *extents[1:]))
    return out


def scattered(values, weight, stride, padding, dilation, output_padding, groups):
    """Each input times all taps of its channel, added where it goes."""
    samples, kernel, extents = values.shape[0], list(weight.shape[2:]), list(values.shape[2:])
    wanted = [(extent - 1) * by - 2 * pad + step * (taps - 1) + more + 1
              for extent, by, pad, step, taps, more in zip(extents, stride, padding, dilation, kernel, output_padding)]
    reached = [max(pad + want, (extent - 1) * by + step * (taps - 1) + 1)
               for pad, want, extent, by, step, taps in zip(padding, wanted, extents, stride, dilation, kernel)]
    channels = groups * weight.shape[1]
    factor = weight.reshape(groups, weight.shape[0] // groups, -1).transpose(1, 2)
    out = values.new_zeros([samples, channels, *reached])
    for first, last, low, high in parts(samples, extents, channels * math.prod(kernel) * values.element_size()):
        part = values[first:last].narrow(2, low, high - low)
        count = part.shape[2:]
        product = torch.matmul(factor, part.reshape(last - first, groups, weight.shape[0] // groups, -1))
        product = product.reshape(last - first, groups, weight.shape[1], *kernel, *count).flatten(1, 2)
        for tap in itertools.product(*[range(taps) for taps in kernel]):
            place = out[first:last]
            for axis, (at, by, step, length) in enumerate(zip(tap, stride, dilation, count)):
                begin = at * step + (low * by if axis == 0 else 0)
                place = place[(slice(None),) * (2 + axis) + (slice(begin, begin + (length - 1) * by + 1, by),)]
            place += product[(slice(None), slice(None), *tap)]
    for axis, (pad, want) in enumerate(zip(padding, wanted)):
        out = out.narrow(2 + axis, pad, want)
    return out.contiguous()


def parts(samples, extents, bytes_of_one):
    """Of the samples, and of the first of their axes where one is too large: (first, last, low, high)."""
    of_sample = bytes_of_one * math.prod(extents)
    together = max(1, UNFOLDED_BYTES // max(1, of_sample))
    rows = max(1, extents[0] if of_sample <= UNFOLDED_BYTES else extents[0] * UNFOLDED_BYTES // of_sample)
    for first in range(0, samples, together):
        for low in range(0, extents[0], rows):
            yield first, min(samples, first + together), low, min(extents[0], low + rows)
