# SPDX-License-Identifier: Apache-2.0
"""Products, distances and differences as products of matrices and arithmetic."""

import math

import torch
import torch.nn.functional as F


def bilinear(left, right, weight, bias=None):
    """Each output is a product with a matrix of its own: all of them beside each other."""
    rows = left @ weight.permute(1, 0, 2).reshape(left.shape[-1], -1)
    result = (rows.reshape(*left.shape[:-1], weight.shape[0], right.shape[-1]) * right.unsqueeze(-2)).sum(-1)
    return result if bias is None else result + bias


def kron(left, right):
    if left.dim() != 2 or right.dim() != 2:
        return NotImplemented
    (a, b), (c, d) = left.shape, right.shape
    return (left.reshape(a, 1, b, 1) * right.reshape(1, c, 1, d)).reshape(a * c, b * d)


def tensordot(left, right, dims=2, out=None):
    if isinstance(dims, int):
        dims = list(range(left.dim() - dims, left.dim())), list(range(dims))
    ours, theirs = ([each % tensor.dim() for each in ([which] if isinstance(which, int) else which)] for which, tensor in zip(dims, (left, right)))
    kept, other = ([i for i in range(tensor.dim()) if i not in which] for which, tensor in ((ours, left), (theirs, right)))
    inner = math.prod(left.shape[i] for i in ours)
    shape = [left.shape[i] for i in kept] + [right.shape[i] for i in other]
    return (left.permute(*kept, *ours).reshape(-1, inner) @ right.permute(*theirs, *other).reshape(inner, -1)).reshape(shape)


def chained(*matrices):
    matrices = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    result = matrices[0]
    for each in matrices[1:]:
        result = result @ each
    return result


def cdist(left, right, p=2.0, compute_mode=None):
    return torch.norm(left.unsqueeze(-2) - right.unsqueeze(-3), p=p, dim=-1)


def diff(data, n=1, dim=-1, prepend=None, append=None):
    if n != 1 or prepend is not None or append is not None:
        return NotImplemented
    count = data.shape[dim] - 1
    return data.narrow(dim, 1, count) - data.narrow(dim, 0, count)


def vector_norm(data, ord=2, dim=None, keepdim=False, dtype=None):
    if dtype is not None or isinstance(ord, str):
        return NotImplemented
    return torch.norm(data, p=2 if ord is None else ord, dim=dim, keepdim=keepdim) if dim is not None else torch.norm(data.reshape(-1), p=2 if ord is None else ord, dim=0, keepdim=keepdim)


def matrix_norm(data, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    return torch.norm(data, p=2, dim=tuple(dim), keepdim=keepdim) if ord == "fro" and dtype is None else NotImplemented


def linalg_norm(data, ord=None, dim=None, keepdim=False, dtype=None):
    if ord is not None and dim is not None and not isinstance(dim, int):
        return matrix_norm(data, ord, dim, keepdim, dtype)
    return vector_norm(data, 2 if ord is None else ord, dim, keepdim, dtype) if ord is None or isinstance(dim, int) or data.dim() == 1 else NotImplemented


def rrelu(data, lower=0.125, upper=1 / 3, training=False, inplace=False):
    return NotImplemented if training else F.leaky_relu(data, (lower + upper) / 2)


PRODUCTS = {"bilinear": bilinear, "kron": kron, "tensordot": tensordot, "chain_matmul": chained, "linalg_multi_dot": chained, "cdist": cdist, "diff": diff,
            "linalg_vector_norm": vector_norm, "linalg_matrix_norm": matrix_norm, "linalg_norm": linalg_norm, "rrelu": rrelu,
            "linalg_vecdot": lambda left, right, dim=-1: (left * right).sum(dim),
             "special_expit": torch.sigmoid, "special_softmax": F.softmax, "special_log_softmax": F.log_softmax, "special_logsumexp": torch.logsumexp,
            "special_erf": torch.erf, "special_exp2": torch.exp2, "special_expm1": torch.expm1, "special_log1p": torch.log1p}
