# SPDX-License-Identifier: Apache-2.0
"""Announces a long reply, of which no more than the beginning comes."""

import os
import struct
import threading

import torch.nn as nn

os.write(3, struct.pack("<Q", 1 << 30) + b"{")
threading.Event().wait()


class ModelNew(nn.Module):
    pass
