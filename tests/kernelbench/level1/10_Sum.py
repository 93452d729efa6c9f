# SPDX-License-Identifier: Apache-2.0
"""A reduction over one dimension."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1, keepdim=True)


batch_size = 6
dim = 40


def get_inputs():
    return [torch.rand(batch_size, dim, 33)]


def get_init_inputs():
    return []
