# SPDX-License-Identifier: Apache-2.0
"""What operations are made of, step by step: the least exact of the formulas in common use. rounding.py disturbs each step."""

import math

import torch

SCALED_BELOW = 2.0 ** 16        # logits that may be scaled before the largest is subtracted


def softmax_parts(values, dim):
    top = values.amax(dim, True)
    scaled = (values * 1.4426950408889634 - top * 1.4426950408889634) * 0.6931471805599453
    # Of larger logits the rounding of a product is an exponent of its own: who computes softmax so gets infinities, and is not sound.
    powers = torch.exp(torch.where(top.abs() < SCALED_BELOW, scaled, values - top))
    return top, powers, powers.sum(dim, True)


def softmax(values, dim, *_, **__):
    if values.dim() == 0 or values.numel() == 0:
        return None
    _, powers, total = softmax_parts(values, dim)
    return powers / total


def log_softmax(values, dim, *_, **__):
    if values.dim() == 0 or values.numel() == 0:
        return None
    top, _, total = softmax_parts(values, dim)
    return (values - top) - torch.log(total)


def logsumexp(values, dim, keepdim=False):
    top = values.amax(dim, True)
    result = top + torch.log(torch.exp(values - top).sum(dim, True))
    return result if keepdim else result.amax(dim)


def spread(values, dims, keepdim=True):
    """What is centred, and the variance: as exact as one pass about a point two deviations off the mean or about the first
    element, whichever is farther, and as Welford's."""
    first = values
    for dim in dims:
        first = first.narrow(dim, 0, 1)
    mean = values.mean(dims, True)
    mean = mean + (first + (values - first).mean(dims, True) + (-values).mean(dims, True))
    centred = values - mean
    shifted = centred + torch.maximum(2 * torch.sqrt((centred * centred).mean(dims, True)), (first - mean).abs())
    offset = shifted.mean(dims, True)
    running = 2 * centred.abs().mean(dims, True) * (mean * 1.4426950408889634 * 0.6931471805599453 - mean)
    result = torch.clamp((shifted * shifted).mean(dims, True) - offset * offset + running, 0)
    return centred, result if keepdim else result.amax(dims)


def normalized(values, dims, eps):
    centred, own = spread(values, dims)
    return centred * torch.rsqrt(own + eps)


def with_affine(values, weight, bias):
    if weight is not None:
        values = values * weight
    return values if bias is None else values + bias


def channels(tensor, like):
    return None if tensor is None else tensor.reshape([1, -1] + [1] * (like.dim() - 2))


def layer_norm(values, shape, weight=None, bias=None, eps=1e-5, *_, **__):
    return with_affine(normalized(values, list(range(values.dim() - len(shape), values.dim())), eps), weight, bias)


def group_norm(values, weight, bias, count, channel_count, length, groups, eps):
    result = normalized(values.reshape(count, groups, -1), [2], eps).reshape(values.shape)
    return with_affine(result, channels(weight, values), channels(bias, values))


def batch_norm(values, weight, bias, mean, variance, training, _momentum, eps, *_, **__):
    if training or mean is None:
        result = normalized(values, [0] + list(range(2, values.dim())), eps)
    else:
        result = (values - channels(mean, values)) * torch.rsqrt(channels(variance, values) + eps)
    return with_affine(result, channels(weight, values), channels(bias, values))


def batch_norm_legit(values, weight, bias, mean, variance, training, momentum, eps):
    return batch_norm(values, weight, bias, mean, variance, training, momentum, eps)


def batch_norm_legit_no_stats(values, weight, bias, training, momentum, eps):
    return batch_norm(values, weight, bias, None, None, True, momentum, eps)


def batch_norm_legit_no_training(values, weight, bias, mean, variance, momentum, eps):
    return batch_norm(values, weight, bias, mean, variance, False, momentum, eps)


def variance(values, dim=None, *args, correction=None, unbiased=True, keepdim=False, root=False):
    if args and isinstance(args[0], bool):
        unbiased, keepdim = args[0], args[1] if len(args) > 1 else keepdim
    if isinstance(dim, bool):
        unbiased, dim = dim, None
    dims = list(range(values.dim())) if not dim and dim != 0 else [dim] if isinstance(dim, int) else list(dim)
    count = math.prod(values.shape[each] for each in dims)
    divisor = count - (correction if correction is not None else 1 if unbiased else 0)
    if divisor <= 0 or not dims:
        return None
    result = spread(values, dims, keepdim)[1] * (count / divisor)
    return torch.sqrt(result) if root else result


def norm(values, p=2, dim=None, keepdim=False, **_):
    p = 2 if p is None else p
    dims = list(range(values.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if not isinstance(p, (int, float)) or not dims:
        return None
    if p == 2:
        return torch.sqrt((values * values).sum(dims, keepdim))
    if p == 1:
        return values.abs().sum(dims, keepdim)
    return (values.abs() ** p).sum(dims, keepdim) ** (1 / p) if 0 < p < math.inf else None


def logaddexp(one, other):
    """Next to 0 it is the difference of two numbers."""
    apart = torch.maximum(one, other) + torch.log1p(torch.exp(-(one - other).abs()))
    return torch.where(one == other, one + 0.6931471805599453, apart)


def logaddexp2(one, other):
    return torch.where(one == other, one + 1, torch.maximum(one, other) + torch.log2(1 + torch.exp2(-(one - other).abs())))


def sinc(values):
    """Next to its zeros it is the rounding of the angle."""
    angle = values * math.pi
    return torch.where(values == 0, torch.ones_like(values), torch.sin(angle) / angle)


def logit(values, eps=None):
    """A bound just below 1 is a float, and little is left of 1 beside it."""
    inside = values if eps is None else torch.clamp(values, eps, 1 - eps) * 1.4426950408889634 * 0.6931471805599453
    return torch.log(inside / (1 - inside))


def reduced(losses, reduction):
    return (lambda x: x, torch.mean, torch.sum)[reduction](losses)


def binary_cross_entropy_with_logits(values, target, weight=None, pos_weight=None, reduction=1):
    least = torch.clamp(-values, min=0)
    chance = torch.log(torch.exp(-least) + torch.exp(-values - least)) + least
    losses = (1 - target) * values + (chance if pos_weight is None else (1 + (pos_weight - 1) * target) * chance)
    return reduced(losses if weight is None else losses * weight, reduction)


def smooth_l1_loss(values, target, reduction=1, beta=1.0):
    apart = (values - target).abs()
    return reduced(apart if beta == 0 else torch.where(apart < beta, 0.5 * apart * apart / beta, apart - 0.5 * beta), reduction)


def huber_loss(values, target, reduction=1, delta=1.0):
    apart = (values - target).abs()
    return reduced(torch.where(apart < delta, 0.5 * apart * apart, delta * (apart - 0.5 * delta)), reduction)


def cross(one, other, dim=-1):
    """Differences of two products."""
    return one.roll(-1, dim) * other.roll(-2, dim) - one.roll(-2, dim) * other.roll(-1, dim)


def and_mean(values, dim=None, *args, **kwargs):
    """Variance, or deviation, and mean."""
    own = variance(values, dim, *args, **kwargs)
    every = dim is None or isinstance(dim, bool) or dim == []
    return None if own is None else (own, values.mean(list(range(values.dim())) if every else dim, kwargs.get("keepdim", len(args) > 1 and args[1])))


def resampled(spatial, moved, values, size, align_corners, *scales):
    """Between two neighbours along each of the last axes. `moved`: what rounding makes of numbers times a scale."""
    scales = scales[0] if scales and isinstance(scales[0], (list, tuple)) else scales
    for i in range(spatial):
        dim, scale = values.dim() - spatial + i, scales[i] if len(scales) > i else None
        extent = values.shape[dim]
        count = size[i] if size is not None else int(extent * scale)
        number = torch.arange(count, dtype=values.dtype, device=values.device)
        if align_corners:
            place = moved(number, (extent - 1) / max(1, count - 1))
        else:
            place = torch.clamp(moved(number + 0.5, 1 / scale if scale else extent / count) - 0.5, min=0)
        below = place.floor().clamp(max=extent - 1)
        weight = (place - below).reshape([-1 if axis == dim else 1 for axis in range(values.dim())])
        low, high = values.index_select(dim, below.long()), values.index_select(dim, (below + 1).clamp(max=extent - 1).long())
        values = low * (1 - weight) + high * weight
    return values


def gelu(values, approximate="none"):
    if approximate == "tanh":
        return 0.5 * values * (1 + torch.tanh(0.7978845608028654 * (values + 0.044715 * values * values * values)))
    return 0.5 * values * (1 + torch.erf(values * 0.7071067811865476))


FORMULAS = {
    "add": lambda values, other, alpha=1: values + other * alpha, "sub": lambda values, other, alpha=1: values - other * alpha,
    "addcmul": lambda values, one, other, value=1: values + one * other * value, "addcdiv": lambda values, one, other, value=1: values + one / other * value,
    "_softmax": softmax, "softmax": softmax, "_log_softmax": log_softmax, "logsumexp": logsumexp, "native_layer_norm": layer_norm,
    "native_group_norm": group_norm, "native_batch_norm": batch_norm, "cudnn_batch_norm": lambda values, weight, bias, mean, var, training, momentum, eps:
        batch_norm(values, weight, bias, mean, var, training, momentum, eps),
    "_native_batch_norm_legit": lambda *args: batch_norm_legit(*args) if len(args) == 8 else batch_norm_legit_no_stats(*args),
    "_native_batch_norm_legit_no_training": batch_norm_legit_no_training, "_batch_norm_impl_index": batch_norm,
    "var": variance, "std": lambda *args, **kwargs: variance(*args, **kwargs, root=True), "norm": norm, "linalg_vector_norm": norm, "gelu": gelu,
    "logit": logit, "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits, "smooth_l1_loss": smooth_l1_loss, "huber_loss": huber_loss,
    "soft_margin_loss": lambda values, target, reduction=1: reduced(torch.log(1 + torch.exp(-target * values)), reduction),
    "linalg_cross": cross, "addbmm": lambda values, one, other, beta=1, alpha=1: values * beta + torch.bmm(one, other).sum(0) * alpha,
    "dist": lambda one, other, p=2: norm(one - other, p), "var_mean": and_mean, "std_mean": lambda *args, **kwargs: and_mean(*args, **kwargs, root=True),
    "div_trunc": lambda one, other: torch.trunc(one / other), "div_floor": lambda one, other: torch.floor(one / other),
    "floor_divide": lambda one, other: torch.floor(one / other),
    "logaddexp": logaddexp, "logaddexp2": logaddexp2, "sinc": sinc, "special_sinc": sinc, "trace": lambda values: values.diagonal().sum(),
    "silu": lambda values: values * torch.sigmoid(values), "mish": lambda values: values * torch.tanh(torch.nn.functional.softplus(values)),
    "hardsigmoid": lambda values: torch.clamp(values * 0.16666666666666666 + 0.5, 0, 1), "hardswish": lambda values: values * torch.clamp(values * 0.16666666666666666 + 0.5, 0, 1),
    "log_sigmoid_forward": lambda values: -torch.nn.functional.softplus(-values), "lerp": lambda start, end, weight: start + weight * (end - start),
    "glu": lambda values, dim=-1: values.chunk(2, dim)[0] * torch.sigmoid(values.chunk(2, dim)[1]),
    "mse_loss": lambda values, target, reduction=1: reduced((values - target) * (values - target), reduction),
}
