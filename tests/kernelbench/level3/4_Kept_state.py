# SPDX-License-Identifier: Apache-2.0
"""A hidden state that is kept between calls."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.inner = nn.Linear(features + hidden, hidden)
        self.hidden = torch.zeros(batch_size, hidden)

    def forward(self, x):
        self.hidden = torch.tanh(self.inner(torch.cat((x, self.hidden.to(x.device)), dim=1)))
        return self.hidden


batch_size = 5


def get_inputs():
    return [torch.randn(batch_size, 12)]


def get_init_inputs():
    return [12, 8]
