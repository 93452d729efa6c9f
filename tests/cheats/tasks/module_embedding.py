# SPDX-License-Identifier: Apache-2.0
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(200000, 4)

    def forward(self, i):
        return self.table(i)


def get_inputs():
    return [torch.randint(0, 200000, (40,))]


def get_init_inputs():
    return []
