# SPDX-License-Identifier: Apache-2.0
"""A convolution, an explicit parameter, an activation in place."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, out, shape):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, 3)
        self.bias = nn.Parameter(torch.randn(shape))
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.conv(x) + self.bias)


batch_size = 2
channels = 3
out = 6


def get_inputs():
    return [torch.randn(batch_size, channels, 10, 10)]


def get_init_inputs():
    return [channels, out, (out, 1, 1)]
