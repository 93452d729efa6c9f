# SPDX-License-Identifier: Apache-2.0
"""Batch statistics in train mode; the running ones are written, not read."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        return self.bn(x)


batch_size = 4
channels = 6


def get_inputs():
    return [torch.rand(batch_size, channels, 8, 8)]


def get_init_inputs():
    return [channels]
