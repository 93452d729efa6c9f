# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(24)

    def forward(self, x):
        return torch.relu(self.norm(x))


def get_inputs():
    return [torch.rand(40, 24)]


def get_init_inputs():
    return []
