# SPDX-License-Identifier: Apache-2.0
"""Three layers."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(sizes[0], sizes[1]), nn.ReLU(), nn.Linear(sizes[1], sizes[2]), nn.ReLU(), nn.Linear(sizes[2], sizes[3]))

    def forward(self, x):
        return self.layers(x)


batch_size = 8


def get_inputs():
    return [torch.rand(batch_size, 32)]


def get_init_inputs():
    return [[32, 48, 40, 10]]
