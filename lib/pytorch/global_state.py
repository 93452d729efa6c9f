# SPDX-License-Identifier: Apache-2.0
"""What a task can set for the whole process, so that each begins with the same whatever ran before it, and PyTorch runs at
its own default flags."""

import builtins
import math
import os
import random

import torch

from precision import allowed, set_flags

FLAGS = {"torch.backends.cudnn": (torch.backends.cudnn, ("allow_tf32", "benchmark", "deterministic", "enabled")),
         "torch.backends.cuda.matmul": (torch.backends.cuda.matmul, ("allow_tf32", "allow_fp16_reduced_precision_reduction",
                                                                     "allow_bf16_reduced_precision_reduction"))}
WATCHED = (torch, torch.nn, torch.nn.functional, torch.nn.init, torch.Tensor, torch.nn.Module, torch.nn.Linear, torch.nn.Conv2d, torch.cuda,
           math, random, builtins)


def flags():
    """Those that change how operations compute, by name."""
    found = {}
    for prefix, (place, names) in FLAGS.items():
        for name in names:
            try:
                found[f"{prefix}.{name}"] = getattr(place, name)
            except (AttributeError, AssertionError):  # not in this version of PyTorch
                pass
    return found


class GlobalState:
    """As it was when this object was made, but with PyTorch's documented flags, which the environment can change."""

    def __init__(self):
        set_flags(*allowed("reference"))
        self.flags, self.threads, self.folder = flags(), torch.get_num_threads(), os.getcwd()
        self.dtype, self.deterministic = torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled()
        self.names = [(place, dict(vars(place))) for place in WATCHED]

    def restore_flags(self):
        """Names those that were not as they should be."""
        changed = [name for name, value in flags().items() if value != self.flags[name]]
        for name in changed:
            prefix, _, own = name.rpartition(".")
            setattr(FLAGS[prefix][0], own, self.flags[name])
        return changed

    def restore(self):
        """Everything, before the next task is read."""
        self.restore_flags()
        torch.set_default_dtype(self.dtype)
        torch.set_grad_enabled(True)
        if torch.are_deterministic_algorithms_enabled() != self.deterministic:   # which imports the compiler
            torch.use_deterministic_algorithms(self.deterministic)
        if hasattr(torch, "set_default_device"):
            torch.set_default_device(None)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        os.chdir(self.folder)
        for place, names in self.names:  # a function of PyTorch's that a task replaced would compute the next one's truth
            for name, value in names.items():
                if not name.startswith("__") and vars(place).get(name) is not value:
                    setattr(place, name, value)
