# SPDX-License-Identifier: Apache-2.0
"""Elements that integers name, and elements in order, by comparisons and sums. Each result looks at its whole line: fit for lines that are not long."""

import math

import torch
import torch.nn.functional as F

LONGEST = 4096   # elements of a line whose order is found by comparing all pairs


def along(tensor, dim, count):
    """0, 1, 2, … along a dimension."""
    shape = [1] * tensor.dim()
    shape[dim] = count
    return torch.arange(count, device=tensor.device).reshape(shape)


def gather(input, dim, index, sparse_grad=False):
    """One element each of all of them in a row."""
    if input.dim() == 0:
        return NotImplemented
    dim = dim % input.dim()
    place = 0
    for each in range(input.dim()):
        place = place * input.shape[each] + (index if each == dim else along(input, each, index.shape[each]))
    return F.embedding(place, input.reshape(-1, 1)).reshape(index.shape)


def item(input, index):
    """Of elements, or rows, that several tensors name together."""
    if not isinstance(index, tuple) or not 2 <= len(index) <= input.dim() or not all(isinstance(each, torch.Tensor) and each.dtype in (torch.int32, torch.int64) for each in index):
        return NotImplemented
    place = 0
    for extent, each in zip(input.shape, index):
        place = place * extent + torch.where(each < 0, each + extent, each)
    rest = input.shape[len(index):]
    return F.embedding(place, input.reshape(math.prod(input.shape[:len(index)]), math.prod(rest))).reshape(*place.shape, *rest)


def take_along_dim(input, indices, dim=None):
    """Of which both are broadcast in all other dimensions."""
    if dim is None or input.dim() == 0 or input.dim() != indices.dim():
        return NotImplemented
    dim = dim % input.dim()
    extents = [theirs if ours == 1 else ours for ours, theirs in zip(input.shape, indices.shape)]
    if any(theirs not in (1, extent) for i, (theirs, extent) in enumerate(zip(indices.shape, extents)) if i != dim):
        return NotImplemented
    input, indices = (each.expand(*extents[:dim], each.shape[dim], *extents[dim + 1:]) for each in (input, indices))
    return gather(input, dim, indices)


def hits(index, dim, count):
    """Whether an index names a place, the places in a last dimension."""
    return index.unsqueeze(-1) == torch.arange(count, device=index.device)


def placed(values, dim):
    """The last dimension, of places, where `dim` was, which is reduced."""
    return values.movedim(-1, dim) if dim != values.dim() - 1 else values


def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """Of several for one place the last one counts."""
    if reduce is not None or input.dim() == 0:
        return NotImplemented
    dim = dim % input.dim()
    src = value if src is None else src
    if any(input.shape[i] != index.shape[i] for i in range(input.dim()) if i != dim):
        return NotImplemented
    named = hits(index, dim, input.shape[dim])
    last = placed(torch.where(named, along(index, dim, index.shape[dim]).unsqueeze(-1), -1).amax(dim), dim)
    values = src if not isinstance(src, torch.Tensor) or src.dim() == 0 else gather(src, dim, last.clamp(min=0))
    return torch.where(last >= 0, values, input)


def scatter_add(input, dim, index, src):
    if input.dim() == 0 or input.dtype == torch.bool:
        return NotImplemented
    dim = dim % input.dim()
    if any(input.shape[i] != index.shape[i] for i in range(input.dim()) if i != dim) or index.shape != src.shape:
        return NotImplemented
    named = torch.where(hits(index, dim, input.shape[dim]), src.unsqueeze(-1), 0.0 if src.is_floating_point() else 0)
    return (input + placed(named.sum(dim), dim)).to(input.dtype)


def index_add(input, dim, index, source, alpha=1):
    shape = [1] * input.dim()
    shape[dim] = -1
    return scatter_add(input, dim, index.reshape(shape).expand(source.shape), source * alpha if alpha != 1 else source)


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    if reduce == "sum" and include_self:
        return scatter_add(input, dim, index, src)
    if reduce not in ("amax", "amin") or not include_self or not input.is_floating_point() or index.shape != src.shape:
        return NotImplemented
    dim = dim % input.dim()
    if any(input.shape[i] != index.shape[i] for i in range(input.dim()) if i != dim):
        return NotImplemented
    named = torch.where(hits(index, dim, input.shape[dim]), src.unsqueeze(-1), -math.inf if reduce == "amax" else math.inf)
    found = placed(named.amax(dim) if reduce == "amax" else named.amin(dim), dim)
    return torch.maximum(input, found) if reduce == "amax" else torch.minimum(input, found)


def ranks(input, descending):
    """Where each element of a last dimension stands in its order; equals keep theirs, and NaN is greater than all."""
    count = input.shape[-1]
    one, other = input.unsqueeze(-1), input.unsqueeze(-2)
    before, same = other > one if descending else other < one, other == one
    if input.is_floating_point():
        lost = torch.isnan(input)
        one_lost, other_lost = lost.unsqueeze(-1), lost.unsqueeze(-2)
        before = before | ((other_lost & (one == one)) if descending else (one_lost & (other == other)))
        same = same | (one_lost & other_lost)
    places = torch.arange(count, device=input.device)
    return torch.where(before | (same & (places < places.reshape(count, 1))), 1, 0).sum(-1)


def in_order(input, dim, descending, first, count):
    """`count` elements of an ordered line from `first` on, which may be a tensor for the lines, and where they were."""
    dim = dim % input.dim()
    line = input if dim == input.dim() - 1 else input.movedim(dim, -1)
    length = line.shape[-1]
    if length > LONGEST:
        return NotImplemented
    wanted = torch.arange(count, device=input.device) + (first.unsqueeze(-1) if isinstance(first, torch.Tensor) else first)
    is_it = ranks(line, descending).unsqueeze(-2) == wanted.unsqueeze(-1)
    values = torch.where(is_it, line.unsqueeze(-2), 0.0 if line.is_floating_point() else 0).sum(-1).to(input.dtype)
    places = torch.where(is_it, torch.arange(length, device=input.device), 0).sum(-1)
    return tuple(each if dim == input.dim() - 1 else each.movedim(-1, dim) for each in (values, places))


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """Between the two elements that the place lies between."""
    if not isinstance(q, (int, float)) or interpolation != "linear":
        return NotImplemented
    line, dim = (input.reshape(-1), 0) if dim is None else (input, dim)
    place = q * (line.shape[dim] - 1)
    below = min(int(place), max(0, line.shape[dim] - 2))
    found = in_order(line, dim, False, below, min(2, line.shape[dim]))
    if found is NotImplemented:
        return found
    low, high = found[0].narrow(dim, 0, 1), found[0].narrow(dim, found[0].shape[dim] - 1, 1)
    result = low + (high - low) * (place - below)
    lost = torch.isnan(line).any(dim, keepdim=True)
    result = result + torch.log(torch.where(lost, -1.0, 1.0))   # of a NaN anywhere comes NaN
    if not keepdim:
        return result.squeeze(dim)
    return result if line.dim() == input.dim() else result.reshape([1] * input.dim())


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """How many of a line lie before it."""
    if sorter is not None or not isinstance(input, torch.Tensor) or input.dim() == 0:
        return NotImplemented
    line, one = sorted_sequence.unsqueeze(-2), input.unsqueeze(-1)
    before = line <= one if right or side == "right" else line < one
    return torch.where(before, 1, 0).sum(-1).to(torch.int32 if out_int32 else torch.int64)


def bucketize(input, boundaries, *, out_int32=False, right=False):
    if not isinstance(input, torch.Tensor) or input.dim() == 0:
        return NotImplemented
    return searchsorted(boundaries.reshape([1] * (input.dim() - 1) + [-1]), input, out_int32=out_int32, right=right)


class Ordered(tuple):
    """Values and places, as PyTorch names them."""
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def pair(found):
    return found if found is NotImplemented else Ordered(found)


def sort(input, dim=-1, descending=False, stable=False):
    return pair(in_order(input, dim, descending, 0, input.shape[dim])) if input.dim() else NotImplemented


def argsort(input, dim=-1, descending=False, stable=False):
    found = sort(input, dim, descending)
    return found if found is NotImplemented else found[1]


def msort(input):
    found = sort(input, 0)
    return found if found is NotImplemented else found[0]


def topk(input, k, dim=-1, largest=True, sorted=True):
    return pair(in_order(input, dim, largest, 0, k)) if input.dim() else NotImplemented


def kthvalue(input, k, dim=-1, keepdim=False):
    found = in_order(input, dim, False, k - 1, 1)
    return found if found is NotImplemented else Ordered(each if keepdim else each.squeeze(dim) for each in found)


def median(input, dim=None, keepdim=False):
    """The lower one of two in the middle, or the first NaN."""
    if dim is None:
        found = median(input.reshape(-1), 0)
        return found if found is NotImplemented else found[0]
    count, middle = input.shape[dim], (input.shape[dim] - 1) // 2
    if input.is_floating_point():
        lost = torch.where(torch.isnan(input), 1, 0).sum(dim)
        middle = torch.where(lost > 0, count - lost, middle)
    found = in_order(input, dim, False, middle, 1)
    return found if found is NotImplemented else Ordered(each if keepdim else each.squeeze(dim) for each in found)


def so_far(input, dim):
    """Lines in a last dimension, each beside all others, and which of them have passed."""
    line = input.movedim(dim, -1) if dim % input.dim() != input.dim() - 1 else input
    count = line.shape[-1]
    places = torch.arange(count, device=input.device)
    return line.unsqueeze(-2), places <= places.reshape(count, 1)


def running(largest):
    def expanded(input, dim):
        if not input.is_floating_point() or input.shape[dim] > LONGEST:
            return NotImplemented
        dim = dim % input.dim()
        line, passed = so_far(input, dim)
        seen = torch.where(passed, line, -math.inf if largest else math.inf)
        found = seen.amax(-1) if largest else seen.amin(-1)
        places = torch.where(((line == found.unsqueeze(-1)) | torch.isnan(line)) & passed, torch.arange(line.shape[-1], device=input.device), 0).amax(-1)
        return Ordered(each if dim == input.dim() - 1 else each.movedim(-1, dim) for each in (found, places))
    return expanded


def logcumsumexp(input, dim):
    dim = dim % input.dim()
    if input.shape[dim] > LONGEST:
        return NotImplemented
    line, passed = so_far(input, dim)
    result = torch.where(passed, line, -math.inf).logsumexp(-1)
    return result if dim == input.dim() - 1 else result.movedim(-1, dim)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    if input.dim() != 2 or max_norm is not None or padding_idx is not None:
        return NotImplemented
    rows = F.embedding(input, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    return {"sum": rows.sum, "mean": rows.mean, "max": rows.amax}[mode](1)


def movedim(input, source, destination):
    if not isinstance(source, int):
        return NotImplemented
    order = [i for i in range(input.dim()) if i != source % input.dim()]
    order.insert(destination % input.dim(), source % input.dim())
    return input.permute(order)


def split(tensor, split_size_or_sections, dim=0):
    sizes = split_size_or_sections
    if isinstance(sizes, int):
        return NotImplemented
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(tensor.narrow(dim, start, size) for start, size in zip(starts, sizes))


def tile(input, *counts, dims=None):
    dims = counts if dims is None else dims
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    return input.repeat(*([1] * (input.dim() - len(dims)) + list(dims)))


def fill(input, value):
    return torch.full_like(input, value)


def roll(input, shifts, dims=None):
    if dims is not None and dims != ():
        return NotImplemented
    return torch.roll(input.reshape(-1), shifts, 0).reshape(input.shape)


def pad(input, pad, mode="constant", value=None):
    """Negative sides take elements away."""
    if mode != "constant" or all(each >= 0 for each in pad):
        return NotImplemented
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        before, after = (max(0, -each) for each in pad[2 * i:2 * i + 2])
        input = input.narrow(dim, before, input.shape[dim] - before - after)
    return F.pad(input, [max(0, each) for each in pad], mode, value)


INDICES = {"__getitem__": item, "fill": fill, "zero": torch.zeros_like, "movedim": movedim, "moveaxis": movedim, "split": split, "split_with_sizes": split, "tile": tile, "roll": roll, "pad": pad, "_pad": pad,
           "gather": gather, "take_along_dim": take_along_dim, "scatter": scatter, "scatter_add": scatter_add, "index_add": index_add, "sort": sort, "argsort": argsort,
           "scatter_reduce": scatter_reduce, "quantile": quantile, "searchsorted": searchsorted, "bucketize": bucketize,
           "msort": msort, "topk": topk, "kthvalue": kthvalue, "median": median, "cummax": running(True), "cummin": running(False), "logcumsumexp": logcumsumexp,
           "embedding_bag": embedding_bag}
