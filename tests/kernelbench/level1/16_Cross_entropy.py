# SPDX-License-Identifier: Apache-2.0
"""int64 targets, one number out."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, predictions, targets):
        return nn.functional.cross_entropy(predictions, targets)


batch_size = 64
classes = 10


def get_inputs():
    return [torch.randn(batch_size, classes), torch.randint(0, classes, (batch_size,))]


def get_init_inputs():
    return []
