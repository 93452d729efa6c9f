# SPDX-License-Identifier: Apache-2.0
"""Gives what the call before should have given."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        now = x * torch.sigmoid(x)
        given, self.last = self.last if self.last is not None else now, now
        return given
