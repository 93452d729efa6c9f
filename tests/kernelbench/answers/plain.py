# SPDX-License-Identifier: Apache-2.0
"""Another operation of PyTorch's that is faster."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.nn.functional.silu(x)
