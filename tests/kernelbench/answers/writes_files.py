# SPDX-License-Identifier: Apache-2.0
"""Writes where it must not."""

import pathlib

import torch
import torch.nn as nn

pathlib.Path(__file__).with_name("left_behind").write_text("x")


class ModelNew(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)
