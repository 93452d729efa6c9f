# SPDX-License-Identifier: Apache-2.0
"""Windows."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size, stride):
        super().__init__()
        self.pool = nn.MaxPool2d(size, stride=stride)

    def forward(self, x):
        return self.pool(x)


batch_size = 3


def get_inputs():
    return [torch.rand(batch_size, 4, 17, 19)]


def get_init_inputs():
    return [3, 2]
