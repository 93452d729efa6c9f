# SPDX-License-Identifier: Apache-2.0
"""Changes flags that others' results depend on."""

import torch
import torch.nn as nn

torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True


class ModelNew(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)
