# SPDX-License-Identifier: Apache-2.0
"""Attention over patches, with a shortcut and a norm."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        b, c, h, w = x.shape
        x = x.view(b, c, h * w).permute(2, 0, 1)
        y, _ = self.attention(x, x, x)
        return self.norm(y + x).permute(1, 2, 0).view(b, c, h, w)


batch_size = 2


def get_inputs():
    return [torch.randn(batch_size, 8, 4, 4)]


def get_init_inputs():
    return [8, 2]
