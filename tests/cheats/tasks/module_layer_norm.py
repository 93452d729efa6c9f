# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(96)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(24, 96)]


def get_init_inputs():
    return []
