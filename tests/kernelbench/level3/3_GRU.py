# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: no torch line, and PyTorch alone says what is right."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.rnn = nn.GRU(features, hidden, num_layers=2)

    def forward(self, x, h0):
        output, _ = self.rnn(x, h0)
        return output


length = 4
batch_size = 3


def get_inputs():
    return [torch.randn(length, batch_size, 6), torch.randn(2, batch_size, 5)]


def get_init_inputs():
    return [6, 5]
