# SPDX-License-Identifier: Apache-2.0
"""A convolution without bias."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, out, size):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, size, bias=False)

    def forward(self, x):
        return self.conv(x)


batch_size = 2
channels = 3


def get_inputs():
    return [torch.rand(batch_size, channels, 14, 12)]


def get_init_inputs():
    return [channels, 8, 3]
