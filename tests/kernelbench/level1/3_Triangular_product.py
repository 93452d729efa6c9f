# SPDX-License-Identifier: Apache-2.0
"""A structure that inputs keep in every trial, and a transposed operand."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, B):
        return torch.tril(torch.matmul(A, B.T))


N = 48


def get_inputs():
    return [torch.tril(torch.rand(N, N)), torch.rand(N, N).T]


def get_init_inputs():
    return []
