# SPDX-License-Identifier: Apache-2.0
"""A transposed convolution."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.conv = nn.ConvTranspose2d(channels, out, 3, stride=2, padding=1)

    def forward(self, x):
        return self.conv(x)


batch_size = 2
channels = 4


def get_inputs():
    return [torch.rand(batch_size, channels, 7, 6)]


def get_init_inputs():
    return [channels, 5]
