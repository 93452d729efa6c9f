# SPDX-License-Identifier: Apache-2.0
"""Batch statistics behind a product."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, out):
        super().__init__()
        self.linear = nn.Linear(features, out)
        self.bn = nn.BatchNorm1d(out)
        self.scale = nn.Parameter(torch.rand(out))

    def forward(self, x):
        return self.bn(self.linear(x) * self.scale)


batch_size = 24
features = 32
out = 20


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [features, out]
