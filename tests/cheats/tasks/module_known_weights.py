# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.randn(48, 48) / 7)
        self.b = nn.Parameter(torch.randn(48, 48) / 7)

    def forward(self, x):
        return x * (self.a @ self.b).sum()


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return []
