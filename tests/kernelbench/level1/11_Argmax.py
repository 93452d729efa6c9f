# SPDX-License-Identifier: Apache-2.0
"""Indices: int64 outputs."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=1)


batch_size = 6
dim = 40


def get_inputs():
    return [torch.rand(batch_size, dim, 9)]


def get_init_inputs():
    return []
