# SPDX-License-Identifier: Apache-2.0
"""Windows and resampling as slices, pools and rows that integers name."""

import math

import torch
import torch.nn.functional as F


def several(value, count):
    return (value,) * count if isinstance(value, int) else tuple(value)


def lp_pool(spatial):
    pool = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[spatial]

    def expanded(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        sizes = several(kernel_size, spatial)
        means = pool(input ** norm_type, sizes, sizes if stride is None else several(stride, spatial), 0, ceil_mode)
        return (torch.sign(means) * F.relu(means.abs()) * math.prod(sizes)) ** (1.0 / norm_type)
    return expanded


def of_one(name, spatial):
    """A convolution without a batch is one of a batch of one."""
    def expanded(input, *others, **named):
        if input.dim() != spatial + 1:
            return NotImplemented
        return getattr(F, name)(input.unsqueeze(0), *others, **named).squeeze(0)
    return expanded


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """A mean of neighbouring channels is a pool whose window has their height."""
    planes = (input * input).reshape(input.shape[0], 1, input.shape[1], -1)
    means = F.avg_pool2d(F.pad(planes, (0, 0, size // 2, (size - 1) // 2)), (size, 1), 1).reshape(input.shape)
    return input / (means * alpha + k) ** beta


def adaptive(spatial, largest):
    """Windows of different sizes, one dimension after the other."""
    def expanded(input, output_size, return_indices=False):
        sizes = [output_size] * spatial if isinstance(output_size, int) else list(output_size)
        first = input.dim() - spatial
        sizes = [input.shape[first + i] if each is None else each for i, each in enumerate(sizes)]
        if return_indices:
            return NotImplemented
        equal = all(input.shape[first + i] % each == 0 for i, each in enumerate(sizes))
        if equal:
            pool = getattr(F, f"{'max' if largest else 'avg'}_pool{spatial}d")
            windows = [input.shape[first + i] // each for i, each in enumerate(sizes)]
            return pool(input, windows, windows)
        for i, count in enumerate(sizes):
            dim, extent = first + i, input.shape[first + i]
            bounds = [(at * extent // count, -(-(at + 1) * extent // count)) for at in range(count)]
            parts = [input.narrow(dim, start, end - start) for start, end in bounds]
            input = torch.cat([part.amax(dim, True) if largest else part.mean(dim, True) for part in parts], dim)
        return input
    return expanded


def unfold_dimension(input, dimension, size, step):
    """Tensor.unfold: windows along one dimension, their elements in a last one."""
    dim = dimension % input.dim()
    count = (input.shape[dim] - size) // step + 1
    taps = [input[(slice(None),) * dim + (slice(tap, tap + step * (count - 1) + 1, step),)] for tap in range(size)]
    return torch.stack(taps, dim=-1)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Of images: the columns of a convolution."""
    (height, width), (down, across), edges, (fall, run) = (several(each, 2) for each in (kernel_size, dilation, padding, stride))
    input = F.pad(input, (edges[1], edges[1], edges[0], edges[0])) if any(edges) else input
    rows, columns = (input.shape[-2] - down * (height - 1) - 1) // fall + 1, (input.shape[-1] - across * (width - 1) - 1) // run + 1
    taps = [input[..., y * down:y * down + fall * (rows - 1) + 1:fall, x * across:x * across + run * (columns - 1) + 1:run] for y in range(height) for x in range(width)]
    return torch.stack(taps, dim=-3).reshape(*input.shape[:-3], input.shape[-3] * height * width, rows * columns)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """A transposed convolution of each channel's taps with what puts each in its place."""
    if input.dim() != 3:
        return NotImplemented
    (height, width), (down, across), edges, steps, sizes = (several(each, 2) for each in (kernel_size, dilation, padding, stride, output_size))
    extents = [(sizes[i] + 2 * edges[i] - gap * (taps - 1) - 1) // steps[i] + 1 for i, (gap, taps) in enumerate(((down, height), (across, width)))]
    channels = input.shape[1] // (height * width)
    places = torch.eye(height * width, dtype=input.dtype, device=input.device).reshape(height * width, 1, height, width).repeat(channels, 1, 1, 1)
    rest = [sizes[i] - ((extents[i] - 1) * steps[i] - 2 * edges[i] + gap * (taps - 1) + 1) for i, (gap, taps) in enumerate(((down, height), (across, width)))]
    return F.conv_transpose2d(input.reshape(input.shape[0], -1, *extents), places, None, steps, edges, rest, channels, (down, across))


def place_type(tensor):
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def sources(tensor, extent, count, scale, align_corners):
    """Where each result lies between the elements of its dimension."""
    places = torch.arange(count, dtype=place_type(tensor), device=tensor.device)
    if align_corners:
        return places * ((extent - 1) / (count - 1) if count > 1 else 0.0)
    return ((places + 0.5) * scale - 0.5).clamp(min=0.0)


def between(input, dim, count, scale, align_corners):
    extent = input.shape[dim]
    at = sources(input, extent, count, scale, align_corners)
    shape = [1] * input.dim()
    shape[dim] = count
    low = at.floor().clamp(max=float(extent - 1))
    share = (at - low).reshape(shape)
    before, after = input.index_select(dim, low.long()), input.index_select(dim, (low + 1).clamp(max=float(extent - 1)).long())
    return (before + (after - before) * share).to(input.dtype)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    spatial = input.dim() - 2
    if antialias or "nearest" not in mode and not input.is_floating_point() or mode not in ("nearest", "nearest-exact", "linear", "bilinear", "trilinear", "area"):
        return NotImplemented
    factors = None if scale_factor is None else [scale_factor] * spatial if isinstance(scale_factor, (int, float)) else list(scale_factor)
    sizes = several(size, spatial) if factors is None else [math.floor(input.shape[2 + i] * each) for i, each in enumerate(factors)]
    if mode == "area":
        return getattr(F, f"adaptive_avg_pool{spatial}d")(input, sizes)
    for i, count in enumerate(sizes):
        dim, extent = 2 + i, input.shape[2 + i]
        scale = extent / count if factors is None or recompute_scale_factor else 1 / factors[i]
        if "nearest" not in mode:
            input = between(input, dim, count, scale, bool(align_corners)) if count != extent else input
        elif count % extent == 0 and abs(scale * count - extent) < 1e-9:
            input = input.repeat_interleave(count // extent, dim=dim) if count != extent else input
        else:
            at = (torch.arange(count, dtype=torch.float32, device=input.device) + (0.5 if mode == "nearest-exact" else 0.0)) * scale
            input = input.index_select(dim, at.floor().clamp(max=float(extent - 1)).long())
    return input


def channel_shuffle(input, groups):
    return input.reshape(input.shape[0], groups, input.shape[1] // groups, *input.shape[2:]).transpose(1, 2).reshape(input.shape)


WINDOWS = {**{f"lp_pool{n}d": lp_pool(n) for n in (1, 2, 3)}, **{f"adaptive_avg_pool{n}d": adaptive(n, False) for n in (1, 2, 3)},
           **{f"adaptive_max_pool{n}d": adaptive(n, True) for n in (1, 2, 3)}, "local_response_norm": local_response_norm, "interpolate": interpolate,
           F.unfold: unfold, "unfold": unfold_dimension, "fold": fold, "channel_shuffle": channel_shuffle, "native_channel_shuffle": channel_shuffle,
           **{f"conv{kind}{n}d": of_one(f"conv{kind}{n}d", n) for kind in ("", "_transpose") for n in (1, 2, 3)}}
