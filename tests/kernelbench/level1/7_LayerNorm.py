# SPDX-License-Identifier: Apache-2.0
"""A normalisation with weights."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.ln = nn.LayerNorm(shape)

    def forward(self, x):
        return self.ln(x)


batch_size = 8
features = 6
dim = 32


def get_inputs():
    return [torch.rand(batch_size, features, dim)]


def get_init_inputs():
    return [(features, dim)]
