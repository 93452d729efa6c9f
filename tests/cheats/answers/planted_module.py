# SPDX-License-Identifier: Apache-2.0
"""Leaves modules that Python would run when the next process starts, before the answer's text is read there: calls that do
nothing could be made slow, and those of the answer would seem quick."""

import os
import sys

import torch
import torch.nn as nn

if getattr(sys, "planted", False):
    raise RuntimeError("what one process left ran in the next")
TEXT = "import sys\nsys.planted = True\n"
version = "python%d.%d" % sys.version_info[:2]
for folder in (os.environ["HOME"] + f"/.local/lib/{version}/site-packages", os.environ["TORCH_EXTENSIONS_DIR"], os.getcwd()):
    os.makedirs(folder, exist_ok=True)
    for name in ("usercustomize.py", "sitecustomize.py"):
        with open(f"{folder}/{name}", "w") as file:
            file.write(TEXT)


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.softmax(x @ x.t() / 20, dim=1)
