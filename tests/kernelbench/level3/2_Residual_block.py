# SPDX-License-Identifier: Apache-2.0
"""Convolutions, batch statistics and a shortcut."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm_a = nn.BatchNorm2d(channels)
        self.b = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm_b = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.norm_a(self.a(x)))
        return self.relu(self.norm_b(self.b(y)) + x)


batch_size = 2
channels = 4


def get_inputs():
    return [torch.randn(batch_size, channels, 8, 8)]


def get_init_inputs():
    return [channels]
