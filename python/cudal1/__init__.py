# SPDX-License-Identifier: Apache-2.0
"""Faster CUDA kernels, with proof: cudal1's commands from Python, and its kernels as PyTorch operators.

    import cudal1
    result = cudal1.optimize("task.cu", output="best.cu", device="cuda:0")
    op = cudal1.load("best.cu")
    y = op(x)

verify(), bench() and optimize() run the cudal1 program and read what it prints with --json; they need no other package. load()
needs PyTorch and an NVIDIA GPU.
"""
from .commands import BenchResult, Judged, OptimizeResult, Speedup, bench, optimize, verify
from .program import Error, program

__all__ = ["BenchResult", "Error", "Judged", "OptimizeResult", "Speedup", "bench", "load", "optimize", "program", "verify"]


def load(path, **options):
    """A verified kernel file as a PyTorch operator; see cudal1.operator.load. PyTorch is imported here."""
    from .operator import load as load_operator

    return load_operator(path, **options)
