# SPDX-License-Identifier: Apache-2.0
"""Views, diagonals, stacks and small arithmetic, by indices, masks and sums."""

import math
import string

import torch


def one_at(count, device):
    """Whether a row's index is the column's."""
    return torch.arange(count, device=device).reshape(count, 1) == torch.arange(count, device=device)


def on_diagonal(input, offset=0, dim1=0, dim2=1):
    """What lies on it, in the last dimension: each row has one such element, which the sum leaves."""
    first, second = dim1 % input.dim(), dim2 % input.dim()
    matrices = input.permute(*(i for i in range(input.dim()) if i not in (first, second)), first, second)
    rows, columns = matrices.shape[-2:]
    begin, count = max(0, -offset), min(rows + min(0, offset), columns - max(0, offset))
    if count < 1 or not input.is_floating_point():
        return NotImplemented
    matrices = matrices.narrow(-2, begin, count).narrow(-1, max(0, offset), count)
    return torch.where(one_at(count, input.device), matrices, 0.0).sum(-1)


def diag(input, diagonal=0):
    return on_diagonal(input, diagonal) if input.dim() == 2 else NotImplemented


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    if offset != 0 or (dim1, dim2) != (-2, -1) or not input.is_floating_point():
        return NotImplemented
    return torch.where(one_at(input.shape[-1], input.device), input.unsqueeze(-1), 0.0)


def trace(input):
    found = on_diagonal(input)
    return found if found is NotImplemented else found.sum()


def block_diag(*tensors):
    """Rows of all matrices, each between zeros."""
    tensors = [each.reshape(-1, each.shape[-1]) if each.dim() == 1 else each for each in tensors if each.dim() in (1, 2)]
    total, before, rows = sum(each.shape[1] for each in tensors), 0, []
    for each in tensors:
        rows.append(torch.nn.functional.pad(each, (before, total - before - each.shape[1])))
        before += each.shape[1]
    return torch.cat(rows, 0)


def column_stack(tensors):
    return torch.cat([each.reshape(-1, 1) if each.dim() < 2 else each for each in tensors], 1)


def atleast_3d(*tensors):
    if len(tensors) != 1 or isinstance(tensors[0], (list, tuple)):
        return NotImplemented
    shape = tuple(tensors[0].shape)
    return tensors[0].reshape({0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}.get(len(shape), shape))


def dstack(tensors):
    return torch.cat([atleast_3d(each) for each in tensors], 2)


def rot90(input, k=1, dims=(0, 1)):
    first, second = dims
    return {0: lambda: input.clone(), 1: lambda: input.flip(second).transpose(first, second), 2: lambda: input.flip((first, second)),
            3: lambda: input.flip(first).transpose(first, second)}[k % 4]()


def tensor_split(input, indices_or_sections, dim=0):
    if isinstance(indices_or_sections, torch.Tensor):
        return NotImplemented
    extent, places = input.shape[dim], indices_or_sections
    if isinstance(places, int):
        sizes = [extent // places + (i < extent % places) for i in range(places)]
        places = [sum(sizes[:i]) for i in range(1, len(sizes))]
    bounds = [0, *(min(each % extent if each < 0 else each, extent) for each in places), extent]
    if any(end <= begin for begin, end in zip(bounds, bounds[1:])):
        return NotImplemented
    return tuple(input.narrow(dim, begin, end - begin) for begin, end in zip(bounds, bounds[1:]))


def take(input, index):
    count = input.numel()
    return torch.nn.functional.embedding(torch.where(index < 0, index + count, index), input.reshape(count, 1)).reshape(index.shape)


def meshgrid(*tensors, indexing="ij"):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if indexing != "ij":
        return NotImplemented
    shape = [each.numel() for each in tensors]
    return tuple(each.reshape([-1 if i == number else 1 for i in range(len(shape))]).expand(*shape) for number, each in enumerate(tensors))


def index_fill(input, dim, index, value):
    if isinstance(value, torch.Tensor) or not input.is_floating_point():
        return NotImplemented
    named = (index.reshape(-1, 1) == torch.arange(input.shape[dim], device=input.device)).any(0)
    return torch.where(named.reshape([-1 if i == dim % input.dim() else 1 for i in range(input.dim())]), float(value), input)


def cross(input, other, dim=None):
    """Of three numbers along a dimension."""
    dim = next((i for i, extent in enumerate(input.shape) if extent == 3), 0) if dim is None else dim
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        return NotImplemented
    (a, b, c), (d, e, f) = ([each.narrow(dim, i, 1) for i in range(3)] for each in (input, other))
    return torch.cat([b * f - c * e, c * d - a * f, a * e - b * d], dim)


def linalg_cross(input, other, *, dim=-1):
    return cross(input, other, dim)


def trapezoid(y, x=None, *, dx=None, dim=-1):
    if x is not None:
        return NotImplemented
    count = y.shape[dim] - 1
    return (y.narrow(dim, 1, count) + y.narrow(dim, 0, count)).sum(dim) * ((1 if dx is None else dx) / 2)


def cov(input, *, correction=1, fweights=None, aweights=None):
    if input.dim() != 2 or fweights is not None or aweights is not None:
        return NotImplemented
    apart = input - input.mean(1, keepdim=True)
    return apart @ apart.t() / max(0, input.shape[1] - correction)


def corrcoef(input):
    if input.dim() != 2:
        return NotImplemented
    apart = input - input.mean(1, keepdim=True)
    apart = apart / apart.square().sum(1, keepdim=True).sqrt()
    return torch.clamp(apart @ apart.t(), -1, 1)


def linspace(start, end, steps, *, dtype=None, **others):
    if steps < 2 or dtype not in (None, torch.float32) or any(isinstance(each, torch.Tensor) for each in (start, end)):
        return NotImplemented
    return torch.arange(steps, device=others.get("device")).to(torch.float32) * ((end - start) / (steps - 1)) + float(start)


def heaviside(input, values):
    return torch.where(input == 0, values, torch.where(input > 0, 1.0, 0.0)) if input.is_floating_point() else NotImplemented


def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    return NotImplemented if equal_nan else (input == other) | ((input - other).abs() <= atol + (rtol * other).abs())


def ldexp(input, other):
    return input * torch.exp2(other.to(torch.float32) if isinstance(other, torch.Tensor) else torch.tensor(float(other)))


def logaddexp2(input, other):
    most = torch.maximum(input, other)
    return most + torch.log2(1 + torch.exp2(-(input - other).abs()))


def sinc(input):
    angle = input * math.pi
    return torch.where(input == 0, 1.0, torch.sin(angle) / angle)


def signbit(input):
    return torch.copysign(torch.ones_like(input), input) < 0 if input.is_floating_point() else input < 0


def float_power(input, exponent):
    return NotImplemented if isinstance(exponent, torch.Tensor) or not isinstance(input, torch.Tensor) else input.to(torch.float64) ** float(exponent)


def hann_window(window_length, periodic=True, *, dtype=None, **others):
    if window_length < 2 or dtype not in (None, torch.float32):
        return NotImplemented
    step = 2 * math.pi / (window_length if periodic else window_length - 1)
    return 0.5 - 0.5 * torch.cos(torch.arange(window_length, device=others.get("device")).to(torch.float32) * step)


def renorm(input, p, dim, maxnorm):
    others = [i for i in range(input.dim()) if i != dim % input.dim()]
    if p != 2 or not others:
        return NotImplemented
    norms = (input * input).sum(others, keepdim=True).sqrt()
    return input * torch.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


def triplet_margin(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    return NotImplemented if distance_function is not None else torch.nn.functional.triplet_margin_loss(anchor, positive, negative, margin, swap=swap, reduction=reduction)


def matrix_power(input, n):
    if n < 1:
        return NotImplemented
    result = input
    for _ in range(n - 1):
        result = result @ input
    return result


def einsum(equation, *operands):
    """An ellipsis spelt out, and letters that occur twice in one operand, whose diagonal is taken."""
    operands = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    terms, arrow, result = equation.replace(" ", "").partition("->")
    terms = terms.split(",")
    doubled = [next((letter for letter in term if letter != "." and term.count(letter) > 1), None) for term in terms]
    if "." not in equation and not any(doubled) or len(terms) != len(operands) or "..." in equation and not arrow:
        return NotImplemented
    free = [letter for letter in string.ascii_letters if letter not in equation]
    batch = [operand.dim() - len(term.replace("...", "")) for operand, term in zip(operands, terms) if "..." in term]
    if len(set(batch)) > 1:
        return NotImplemented
    letters = "".join(free[:batch[0]]) if batch else ""
    terms, result = [term.replace("...", letters) for term in terms], result.replace("...", letters)
    for number, letter in enumerate(doubled):
        if letter is None:
            continue
        first, second = (i for i, each in enumerate(terms[number]) if each == letter)
        operands[number] = on_diagonal(operands[number], 0, first, second)
        if operands[number] is NotImplemented:
            return NotImplemented
        terms[number] = terms[number].replace(letter, "") + letter
    return torch.einsum(",".join(terms) + ("->" + result if arrow else ""), *operands)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Of every class but the right one: how far it comes within the margin."""
    if input.dim() != 2 or weight is not None or size_average is not None or reduce is not None:
        return NotImplemented
    right = target.unsqueeze(1) == torch.arange(input.shape[1], device=input.device)
    own = torch.where(right, input, 0.0).sum(1, keepdim=True)
    within = torch.clamp(margin - own + input, min=0)
    losses = torch.where(right, 0.0, within if p == 1 else within * within).sum(1) / input.shape[1]
    return {"none": lambda: losses, "mean": losses.mean, "sum": losses.sum}[reduction]() if p in (1, 2) else NotImplemented


PLACES = {"diagonal": on_diagonal, "diag": diag, "diag_embed": diag_embed, "trace": trace, "block_diag": block_diag, "column_stack": column_stack, "dstack": dstack,
          "atleast_3d": atleast_3d, "rot90": rot90, "tensor_split": tensor_split, "take": take, "meshgrid": meshgrid, "index_fill": index_fill, "cross": cross,
          "linalg_cross": linalg_cross, "trapz": trapezoid, "trapezoid": trapezoid, "cov": cov, "corrcoef": corrcoef, "linspace": linspace, "heaviside": heaviside,
          "isclose": isclose, "ldexp": ldexp, "logaddexp2": logaddexp2, "signbit": signbit, "float_power": float_power, "hann_window": hann_window, "renorm": renorm,
          "triplet_margin_with_distance_loss": triplet_margin, "sinc": sinc, "special_sinc": sinc, "matrix_power": matrix_power, "linalg_matrix_power": matrix_power,
          "einsum": einsum, "multi_margin_loss": multi_margin_loss}
