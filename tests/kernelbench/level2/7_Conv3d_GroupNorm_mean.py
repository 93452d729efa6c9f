# SPDX-License-Identifier: Apache-2.0
"""Three dimensions, and a mean of a normalised sample: constant."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.conv = nn.Conv3d(channels, out, 3)
        self.norm = nn.GroupNorm(2, out)

    def forward(self, x):
        return self.norm(self.conv(x)).mean(dim=[1, 2, 3, 4])


batch_size = 16
channels = 2
out = 4


def get_inputs():
    return [torch.rand(batch_size, channels, 5, 6, 6)]


def get_init_inputs():
    return [channels, out]
