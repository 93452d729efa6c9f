# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, w):
        return torch.relu(x) * w + torch.clamp(x, max=0.9)


def get_inputs():
    return [torch.empty(32, 64).uniform_(0, 0.8), nn.init.normal_(torch.empty(32, 64))]


def get_init_inputs():
    return []
