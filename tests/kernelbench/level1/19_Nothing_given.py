# SPDX-License-Identifier: Apache-2.0
"""An input that is None, and a default that is used."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, bias=None, scale=2.0):
        y = x * scale
        return y if bias is None else y + bias


batch_size = 16
dim = 64


def get_inputs():
    return [torch.randn(batch_size, dim), None]


def get_init_inputs():
    return []
