# SPDX-License-Identifier: Apache-2.0
"""An activation that does nothing in the declared range of its inputs."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


batch_size = 16
dim = 256


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
