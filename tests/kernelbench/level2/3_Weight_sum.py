# SPDX-License-Identifier: Apache-2.0
"""A product and a sum that algebra makes one vector."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, features))

    def forward(self, x):
        x = torch.matmul(x, self.weight.T)
        x = x / 2
        return torch.sum(x, dim=1, keepdim=True) * 1.5


batch_size = 16
features = 64
out = 48


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [features, out]
