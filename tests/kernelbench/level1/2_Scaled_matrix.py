# SPDX-License-Identifier: Apache-2.0
"""A number among the inputs."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, s):
        return A * s


M = 64
N = 96


def get_inputs():
    return [torch.rand(M, N), 3.14]


def get_init_inputs():
    return []
