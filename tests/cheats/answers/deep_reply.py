# SPDX-License-Identifier: Apache-2.0
"""Sends a reply that is nested a million deep."""

import os
import struct
import time

import torch
import torch.nn as nn

text = b'{"notes":' + b"[" * 1000000 + b"]" * 1000000 + b"}"
text = struct.pack("<Q", len(text)) + text
while text:
    text = text[os.write(3, text[:1 << 20]):]
time.sleep(5)


class ModelNew(nn.Module):
    pass
