# SPDX-License-Identifier: Apache-2.0
"""A product with an epilogue."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, out):
        super().__init__()
        self.linear = nn.Linear(features, out)

    def forward(self, x):
        return torch.softmax(nn.functional.gelu(self.linear(x)), dim=1)


batch_size = 16
features = 48
out = 40


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [features, out]
