# SPDX-License-Identifier: Apache-2.0
"""A scan."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1)


batch_size = 12
dim = 150


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
