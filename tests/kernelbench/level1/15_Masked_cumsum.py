# SPDX-License-Identifier: Apache-2.0
"""A bool input beside a float one."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=1)


batch_size = 12
dim = 90


def get_inputs():
    return [torch.rand(batch_size, dim), torch.randint(0, 2, (batch_size, dim)).bool()]


def get_init_inputs():
    return []
