# SPDX-License-Identifier: Apache-2.0
"""A dropout that drops nothing."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, out):
        super().__init__()
        self.linear = nn.Linear(features, out)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return torch.tanh(self.dropout(self.linear(x)))


batch_size = 16
features = 32
out = 24


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [features, out]
