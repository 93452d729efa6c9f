# SPDX-License-Identifier: Apache-2.0
"""Products, distances and differences as products of matrices and arithmetic."""

import math

import torch
import torch.nn.functional as F


def bilinear(input1, input2, weight, bias=None):
    """Each output is a product with a matrix of its own: all of them beside each other."""
    rows = input1 @ weight.permute(1, 0, 2).reshape(input1.shape[-1], -1)
    result = (rows.reshape(*input1.shape[:-1], weight.shape[0], input2.shape[-1]) * input2.unsqueeze(-2)).sum(-1)
    return result if bias is None else result + bias


def kron(input, other):
    if input.dim() != 2 or other.dim() != 2:
        return NotImplemented
    (a, b), (c, d) = input.shape, other.shape
    return (input.reshape(a, 1, b, 1) * other.reshape(1, c, 1, d)).reshape(a * c, b * d)


def tensordot(a, b, dims=2, out=None):
    if isinstance(dims, int):
        dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    ours, theirs = ([each % tensor.dim() for each in ([which] if isinstance(which, int) else which)] for which, tensor in zip(dims, (a, b)))
    kept, other = ([i for i in range(tensor.dim()) if i not in which] for which, tensor in ((ours, a), (theirs, b)))
    inner = math.prod(a.shape[i] for i in ours)
    shape = [a.shape[i] for i in kept] + [b.shape[i] for i in other]
    return (a.permute(*kept, *ours).reshape(-1, inner) @ b.permute(*theirs, *other).reshape(inner, -1)).reshape(shape)


def inner(input, other):
    """Where `other` has two dimensions the line has it as it is."""
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if other.dim() == 2:
        return NotImplemented
    return input @ other if other.dim() == 1 else tensordot(input, other, ([-1], [-1]))


def chained(*matrices):
    matrices = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    result = matrices[0]
    for each in matrices[1:]:
        result = result @ each
    return result


def cdist(x1, x2, p=2.0, compute_mode=None):
    return torch.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p=p, dim=-1)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    if n != 1 or prepend is not None or append is not None:
        return NotImplemented
    count = input.shape[dim] - 1
    return input.narrow(dim, 1, count) - input.narrow(dim, 0, count)


def vector_norm(input, ord=2, dim=None, keepdim=False, dtype=None):
    if dtype is not None or isinstance(ord, str):
        return NotImplemented
    p = 2 if ord is None else ord
    if dim is not None:
        return torch.norm(input, p=p, dim=dim, keepdim=keepdim)
    result = torch.norm(input.reshape(-1), p=p, dim=0)
    return result.reshape([1] * input.dim()) if keepdim and input.dim() else result


def matrix_norm(input, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    return torch.norm(input, p=2, dim=tuple(dim), keepdim=keepdim) if ord == "fro" and dtype is None else NotImplemented


def linalg_norm(input, ord=None, dim=None, keepdim=False, dtype=None):
    if ord is not None and dim is not None and not isinstance(dim, int):
        return matrix_norm(input, ord, dim, keepdim, dtype)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype) if ord is None or isinstance(dim, int) or input.dim() == 1 else NotImplemented


def rrelu(input, lower=0.125, upper=1 / 3, training=False, inplace=False):
    return NotImplemented if training or inplace else F.leaky_relu(input, (lower + upper) / 2)


def nan_to_num(input, nan=None, posinf=None, neginf=None):
    """The line's own limits are those of float32."""
    if not input.is_floating_point():
        return input.clone()
    if input.dtype == torch.float32 or posinf is not None and neginf is not None:
        return NotImplemented
    limits = torch.finfo(input.dtype)
    return torch.nan_to_num(input, nan, limits.max if posinf is None else posinf, limits.min if neginf is None else neginf)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """A variance of one dimension less is each row's."""
    if var.dim() != input.dim() - 1:
        return NotImplemented
    return F.gaussian_nll_loss(input, target, var.unsqueeze(-1), full, eps, reduction)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    """With kept statistics it is a batch's."""
    return NotImplemented if use_input_stats or running_mean is None else F.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)


PRODUCTS = {"instance_norm": instance_norm, "bilinear": bilinear, "kron": kron, "tensordot": tensordot, "inner": inner, "chain_matmul": chained, "linalg_multi_dot": chained, "cdist": cdist, "diff": diff,
            "linalg_vector_norm": vector_norm, "linalg_matrix_norm": matrix_norm, "linalg_norm": linalg_norm, "rrelu": rrelu,
            "nan_to_num": nan_to_num, "gaussian_nll_loss": gaussian_nll_loss,
            "linalg_vecdot": lambda x, y, dim=-1: (x * y).sum(dim),
             "special_expit": torch.sigmoid, "special_softmax": F.softmax, "special_log_softmax": F.log_softmax, "special_logsumexp": torch.logsumexp,
            "special_erf": torch.erf, "special_exp2": torch.exp2, "special_expm1": torch.expm1, "special_log1p": torch.log1p}
