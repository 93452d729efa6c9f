# SPDX-License-Identifier: Apache-2.0
"""A convolution whose default reference uses TF32, at a real size."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, out, size):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, size, bias=False)

    def forward(self, x):
        return self.conv(x)


batch_size = 16
channels = 64
width = 128


def get_inputs():
    return [torch.rand(batch_size, channels, width, width)]


def get_init_inputs():
    return [channels, 128, 3]
