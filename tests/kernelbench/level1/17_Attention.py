# SPDX-License-Identifier: Apache-2.0
"""Scaled dot products and a softmax."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, Q, K, V):
        scores = torch.matmul(Q, K.transpose(-2, -1)) / Q.size(-1) ** 0.5
        return torch.matmul(torch.softmax(scores, dim=-1), V)


heads = 2
length = 24
dim = 16


def get_inputs():
    return [torch.randn(heads, length, dim), torch.randn(heads, length, dim), torch.randn(heads, length, dim)]


def get_init_inputs():
    return []
