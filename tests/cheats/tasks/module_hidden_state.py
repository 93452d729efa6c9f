# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.u = nn.Parameter(torch.randn(24, 24) / 5)
        self.v = nn.Parameter(torch.randn(24, 24) / 5)

    def forward(self, x, state):
        return torch.sigmoid(x @ self.u + state @ self.v)


def get_inputs():
    return [torch.randn(12, 24), torch.zeros(12, 24)]


def get_init_inputs():
    return []
