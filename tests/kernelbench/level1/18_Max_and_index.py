# SPDX-License-Identifier: Apache-2.0
"""Two outputs by position."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        values, indices = torch.max(x, dim=1)
        return values, indices


batch_size = 20
dim = 70


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
