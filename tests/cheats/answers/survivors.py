# SPDX-License-Identifier: Apache-2.0
"""Leaves children in sessions of their own, which sleep under a name that can be found, and a file in shared memory."""

import os
import subprocess

import torch
import torch.nn as nn

for _ in range(4):
    subprocess.Popen(["sleep", "987654"], start_new_session=True)
try:
    open("/dev/shm/cudal1-left-behind", "w").write("x")
except OSError:
    pass


class ModelNew(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)
