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
    return torch.arange(count).reshape(shape)


def gather(data, dim, index, sparse_grad=False):
    """One element each of all of them in a row."""
    if data.dim() == 0:
        return NotImplemented
    dim = dim % data.dim()
    place = 0
    for each in range(data.dim()):
        place = place * data.shape[each] + (index if each == dim else along(data, each, index.shape[each]))
    return F.embedding(place, data.reshape(-1, 1)).reshape(index.shape)


def item(data, index):
    """Of elements, or rows, that several tensors name together."""
    if not isinstance(index, tuple) or len(index) < 2 or not all(isinstance(each, torch.Tensor) and not each.is_floating_point() and each.dtype != torch.bool for each in index):
        return NotImplemented
    place = index[0]
    for extent, each in zip(data.shape[1:], index[1:]):
        place = place * extent + each
    rest = data.shape[len(index):]
    return F.embedding(place, data.reshape(math.prod(data.shape[:len(index)]), math.prod(rest))).reshape(*place.shape, *rest)


def take_along_dim(data, indices, dim=None):
    return gather(data, dim, indices) if dim is not None else NotImplemented


def hits(index, dim, count):
    """Whether an index names a place, the places in a last dimension."""
    return index.unsqueeze(-1) == torch.arange(count)


def placed(values, dim):
    """The last dimension, of places, where `dim` was, which is reduced."""
    return values.movedim(-1, dim) if dim != values.dim() - 1 else values


def scatter(data, dim, index, src=None, *, value=None, reduce=None):
    """Of several for one place the last one counts."""
    if reduce is not None or data.dim() == 0:
        return NotImplemented
    dim = dim % data.dim()
    src = value if src is None else src
    if any(data.shape[i] != index.shape[i] for i in range(data.dim()) if i != dim):
        return NotImplemented
    named = hits(index, dim, data.shape[dim])
    last = placed(torch.where(named, along(index, dim, index.shape[dim]).unsqueeze(-1), -1).amax(dim), dim)
    values = src if not isinstance(src, torch.Tensor) or src.dim() == 0 else gather(src, dim, last.clamp(min=0))
    return torch.where(last >= 0, values, data)


def scatter_add(data, dim, index, src):
    dim = dim % data.dim()
    if any(data.shape[i] != index.shape[i] for i in range(data.dim()) if i != dim) or index.shape != src.shape:
        return NotImplemented
    return data + placed(torch.where(hits(index, dim, data.shape[dim]), src.unsqueeze(-1), 0.0).sum(dim), dim)


def index_add(data, dim, index, source, alpha=1):
    shape = [1] * data.dim()
    shape[dim] = -1
    return scatter_add(data, dim, index.reshape(shape).expand(source.shape), source * alpha if alpha != 1 else source)


def ranks(data, descending):
    """Where each element of a last dimension stands in its order; equals keep theirs."""
    count = data.shape[-1]
    one, other = data.unsqueeze(-1), data.unsqueeze(-2)
    before = other > one if descending else other < one
    earlier = torch.arange(count) < torch.arange(count).reshape(count, 1)
    return torch.where(before | ((other == one) & earlier), 1, 0).sum(-1)


def in_order(data, dim, descending, first, count):
    """`count` elements of an ordered line from `first` on, and where they were."""
    dim = dim % data.dim()
    line = data if dim == data.dim() - 1 else data.movedim(dim, -1)
    length = line.shape[-1]
    if length > LONGEST:
        return NotImplemented
    is_it = ranks(line, descending).unsqueeze(-2) == (torch.arange(count) + first).reshape(count, 1)
    values = torch.where(is_it, line.unsqueeze(-2), 0.0 if line.is_floating_point() else 0).sum(-1)
    places = torch.where(is_it, torch.arange(length), 0).sum(-1)
    return tuple(each if dim == data.dim() - 1 else each.movedim(-1, dim) for each in (values, places))


class Ordered(tuple):
    """Values and places, as PyTorch names them."""
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def pair(found):
    return found if found is NotImplemented else Ordered(found)


def sort(data, dim=-1, descending=False, stable=False):
    return pair(in_order(data, dim, descending, 0, data.shape[dim])) if data.dim() else NotImplemented


def argsort(data, dim=-1, descending=False, stable=False):
    found = sort(data, dim, descending)
    return found if found is NotImplemented else found[1]


def msort(data):
    found = sort(data, 0)
    return found if found is NotImplemented else found[0]


def topk(data, k, dim=-1, largest=True, sorted=True):
    return pair(in_order(data, dim, largest, 0, k)) if data.dim() else NotImplemented


def kthvalue(data, k, dim=-1, keepdim=False):
    found = in_order(data, dim, False, k - 1, 1)
    return found if found is NotImplemented else Ordered(each if keepdim else each.squeeze(dim) for each in found)


def median(data, dim=None, keepdim=False):
    """The lower one of two in the middle."""
    if dim is None:
        found = kthvalue(data.reshape(-1), (data.numel() + 1) // 2, 0)
        return found if found is NotImplemented else found[0]
    return kthvalue(data, (data.shape[dim] + 1) // 2, dim, keepdim)


def so_far(data, dim):
    """Lines in a last dimension, each beside all others, and which of them have passed."""
    line = data.movedim(dim, -1) if dim % data.dim() != data.dim() - 1 else data
    count = line.shape[-1]
    return line.unsqueeze(-2), torch.arange(count) <= torch.arange(count).reshape(count, 1)


def running(largest):
    def expanded(data, dim):
        if not data.is_floating_point() or data.shape[dim] > LONGEST:
            return NotImplemented
        dim = dim % data.dim()
        line, passed = so_far(data, dim)
        seen = torch.where(passed, line, -math.inf if largest else math.inf)
        found = seen.amax(-1) if largest else seen.amin(-1)
        places = torch.where((line == found.unsqueeze(-1)) & passed, torch.arange(line.shape[-1]), 0).amax(-1)
        return Ordered(each if dim == data.dim() - 1 else each.movedim(-1, dim) for each in (found, places))
    return expanded


def logcumsumexp(data, dim):
    dim = dim % data.dim()
    if data.shape[dim] > LONGEST:
        return NotImplemented
    line, passed = so_far(data, dim)
    result = torch.where(passed, line, -math.inf).logsumexp(-1)
    return result if dim == data.dim() - 1 else result.movedim(-1, dim)


def embedding_bag(indices, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    if indices.dim() != 2 or max_norm is not None or padding_idx is not None:
        return NotImplemented
    rows = F.embedding(indices, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    return {"sum": rows.sum, "mean": rows.mean, "max": rows.amax}[mode](1)


def movedim(data, source, destination):
    if not isinstance(source, int):
        return NotImplemented
    order = [i for i in range(data.dim()) if i != source % data.dim()]
    order.insert(destination % data.dim(), source % data.dim())
    return data.permute(order)


def split(data, sizes, dim=0):
    if isinstance(sizes, int):
        return NotImplemented
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(data.narrow(dim, start, size) for start, size in zip(starts, sizes))


def tile(data, *dims):
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    return data.repeat(*([1] * (data.dim() - len(dims)) + list(dims)))


def roll(data, shifts, dims=None):
    if dims is not None and dims != ():
        return NotImplemented
    return torch.roll(data.reshape(-1), shifts, 0).reshape(data.shape)


def pad(data, pad, mode="constant", value=None):
    """Negative sides take elements away."""
    if mode != "constant" or all(each >= 0 for each in pad):
        return NotImplemented
    for i in range(len(pad) // 2):
        dim = data.dim() - 1 - i
        before, after = (max(0, -each) for each in pad[2 * i:2 * i + 2])
        data = data.narrow(dim, before, data.shape[dim] - before - after)
    return F.pad(data, [max(0, each) for each in pad], mode, value)


INDICES = {"__getitem__": item, "fill": torch.full_like, "zero": torch.zeros_like, "movedim": movedim, "moveaxis": movedim, "split": split, "split_with_sizes": split, "tile": tile, "roll": roll, "pad": pad, "_pad": pad,
           "gather": gather, "take_along_dim": take_along_dim, "scatter": scatter, "scatter_add": scatter_add, "index_add": index_add, "sort": sort, "argsort": argsort,
           "msort": msort, "topk": topk, "kthvalue": kthvalue, "median": median, "cummax": running(True), "cummin": running(False), "logcumsumexp": logcumsumexp,
           "embedding_bag": embedding_bag}
