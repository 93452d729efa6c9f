# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers whose hidden states are projected: no torch line, and PyTorch alone says what is right."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden, projected):
        super().__init__()
        self.rnn = nn.LSTM(features, hidden, num_layers=2, proj_size=projected)

    def forward(self, x):
        output, _ = self.rnn(x)
        return output


length = 4
batch_size = 3


def get_inputs():
    return [torch.randn(length, batch_size, 6)]


def get_init_inputs():
    return [6, 5, 3]
