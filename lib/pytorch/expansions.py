# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch's that are recorded as the simpler ones of which they are made."""

import math

import torch
import torch.nn.functional as F

from expand_indices import INDICES
from expand_places import PLACES
from expand_products import PRODUCTS
from expand_recurrence import RECURRENCES
from expand_windows import WINDOWS


def multi_head_attention(query, key, value, width, heads, in_weight, in_bias, bias_k, bias_v, add_zero_attn, dropout, out_weight,
                         out_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
                         use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None,
                         static_v=None, average_attn_weights=True, is_causal=False):
    """Over [length, batch, width], as nn.MultiheadAttention calls it, or without a batch."""
    if add_zero_attn or any(each is not None for each in (bias_k, bias_v, static_k, static_v)):
        return NotImplemented
    one, alone = query is key and key is value, query.dim() == 2
    if alone:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if one and not use_separate_proj_weight:
        projected = F.linear(query, in_weight, in_bias).chunk(3, dim=-1)
    else:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_weight.chunk(3)
        biases = (None, None, None) if in_bias is None else in_bias.chunk(3)
        projected = [F.linear(*each) for each in zip((query, key, value), weights, biases)]
    batch = query.shape[1]
    q, k, v = (each.reshape(each.shape[0], batch, heads, width // heads).permute(1, 2, 0, 3) for each in projected)
    if attn_mask is not None and attn_mask.dim() == 3:
        attn_mask = attn_mask.reshape(batch, heads, *attn_mask.shape[1:])
    scores = q @ k.transpose(-2, -1) * (width // heads) ** -0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores, attn_mask = scores.masked_fill(attn_mask, -math.inf), None
    if key_padding_mask is not None:
        padding = key_padding_mask.reshape(batch, 1, 1, -1)
        scores = scores.masked_fill(padding, -math.inf) if padding.dtype == torch.bool else scores + padding
    weights = F.dropout(F.softmax(scores if attn_mask is None else scores + attn_mask, dim=-1), dropout, training)
    result = F.linear((weights @ v).permute(2, 0, 1, 3).reshape(query.shape), out_weight, out_bias)
    weights = weights.mean(dim=1) if average_attn_weights else weights
    result, weights = (result.squeeze(1), weights.squeeze(0)) if alone else (result, weights)
    return result, weights if need_weights else None


def pooled_outline(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """What max_pool3d gives of a tensor without values."""
    if return_indices:
        raise NotImplementedError("max_pool3d with indices")
    size, step, edge, gap = ((each,) * 3 if isinstance(each, int) else tuple(each) for each in (kernel_size, stride or kernel_size, padding, dilation))
    extents = []
    for extent, k, s, p, d in zip(x.shape[-3:], size, step, edge, gap):
        places = (extent + 2 * p - d * (k - 1) - 1) / s
        count = (math.ceil(places) if ceil_mode else math.floor(places)) + 1
        extents.append(count - 1 if ceil_mode and (count - 1) * s >= extent + p else count)   # no window begins behind the input
    return x.new_empty((*x.shape[:-3], *extents))


# By name: what PyTorch 1.13 cannot run without values.
OUTLINES = {"max_pool3d": pooled_outline}
# By the names of functions of torch, of torch.nn.functional and of tensors; by the function itself where two share a name.
EXPANSIONS = {"multi_head_attention_forward": multi_head_attention, **INDICES, **PLACES, **PRODUCTS, **RECURRENCES, **WINDOWS}
