#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write_tasks.py FOLDER [GROUP…]: the operations of PyTorch that networks are made of, each as a small task in KernelBench's form, in
FOLDER/level1, where a sweep looks."""

import pathlib
import re
import sys

import elements
import layers

TASK = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import rand, randint, randn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, {names}):
        return {forward}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


def groups():
    """The tables by name."""
    return {name.lower(): getattr(table, name) for table in (elements, layers) for name in vars(table) if name.isupper() and is_table(getattr(table, name))}


def is_table(value):
    return isinstance(value, list) and all(isinstance(row, tuple) for row in value)


def task(forward, *rest):
    """A module for each row: a forward, or a layer, its inputs, and what the constructor makes, as `m=…`."""
    made = [text[2:] for text in rest if text.startswith("m=")]
    inputs = [text for text in rest if not text.startswith("m=")]
    names = "xyz"[:len(inputs)]
    if forward.startswith("nn.") and not forward.endswith(")(" + ", ".join(names) + ")"):
        made, forward = [forward], "self.m(x)"
    return TASK.format(made="self.m = " + made[0] if made else "pass", names=", ".join(names), forward=forward, inputs=", ".join(inputs)), (made or [forward])[0]


def name_of(text):
    return re.sub(r"\W+", "_", text).strip("_")[:60]


def main():
    folder, wanted = pathlib.Path(sys.argv[1]) / "level1", sys.argv[2:]   # where a sweep looks for tasks
    folder.mkdir(parents=True, exist_ok=True)
    every = [(group, row) for group, rows in groups().items() for row in rows]
    for number, (group, row) in enumerate(every, 1):
        if wanted and group not in wanted:
            continue
        source, title = task(*row)
        (folder / f"{number}_{group}_{name_of(title)}.py").write_text(source)


if __name__ == "__main__":
    main()
