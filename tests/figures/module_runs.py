#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the truth and sigma of one trial of a PyTorch module cost: runs, products in double precision and in float32, seconds on the CPU.

  module_runs.py TASK… [--tree TREE] [--set NAME=VALUE] [--runs N]

A product is a convolution or a product of matrices, as PyTorch calls it. With --tree the judge's Python of another tree is counted."""
import argparse
import collections
import contextlib
import pathlib
import sys
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

HERE = pathlib.Path(__file__).resolve().parent


class Products(TorchDispatchMode):
    def __init__(self, names, name_of):
        super().__init__()
        self.names, self.name_of, self.count = names, name_of, collections.Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if self.name_of(function) in self.names:
            self.count[out.dtype] += 1
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+", type=pathlib.Path)
    parser.add_argument("--tree", type=pathlib.Path, default=HERE.parents[1])
    parser.add_argument("--set", action="append", default=[], help="of constants, where a task has them")
    parser.add_argument("--runs", type=int, default=16, help="disturbed ones")
    options = parser.parse_args()
    sys.path.insert(0, str(options.tree / "lib" / "pytorch"))
    import rounding
    import task_cases
    from task_module import TaskModule
    task_cases.LEAST_RUNS = options.runs
    torch.set_num_threads(1)
    print("| task | runs | products in float64 | in float32 | seconds |\n| --- | ---: | ---: | ---: | ---: |")
    for path in options.tasks:
        source, wanted = path.read_text(), dict(each.split("=") for each in options.set)
        constants = TaskModule(str(path), source, {}).constants
        task = TaskModule(str(path), source, {name: int(value) for name, value in wanted.items() if name in constants})
        cases = task_cases.Cases(task)
        trial = {"pattern": "stray", "seed": 5, "weights": 9, "turn": 0}
        model, arguments = cases.model(trial), cases.arguments(trial)
        began = time.monotonic()
        with Products(rounding.PRODUCTS, rounding.short) as products:
            with contextlib.redirect_stdout(sys.stderr):   # what a task prints
                cases.sound(model, arguments, options.runs)
        print(f"| {path.stem} | {cases.runs} | {products.count[torch.float64]} | {products.count[torch.float32]} | {time.monotonic() - began:.2f} |", flush=True)


if __name__ == "__main__":
    main()
