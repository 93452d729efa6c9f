#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a GPU: an operator from cudal1.load is right under torch.compile, in a CUDA graph and on another stream, and what a call costs.

  PYTHONPATH=python CUDAL1_PROGRAM=build/release/cli/cudal1 python3 tests/figures/python_operator.py

The operator is examples/softmax.cu as it is. Its cost is that of the calling thread: many calls queued, none waited for, beside
torch.softmax and a custom operator that launches nothing. Exits with 1 where a result is wrong.
"""
import pathlib
import sys
import time

import torch

import cudal1

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "softmax.cu"


def microseconds(call, count=2000):
    for _ in range(50):
        call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        for _ in range(count // 10):
            call()
        best = min(best, (time.perf_counter() - begin) / (count // 10))
        torch.cuda.synchronize()
    return 1e6 * best


def main():
    op = cudal1.load(EXAMPLE, shapes="any")
    x = torch.randn(64, 128, device="cuda")
    truth = torch.softmax(x, 1)
    wrong = []

    def check(name, y):
        right = torch.allclose(y, truth, rtol=1e-5, atol=1e-6)
        print(f"{name}: {'right' if right else 'WRONG'}")
        wrong.extend([] if right else [name])

    check("eager", op(x))
    check("not contiguous", op(x.t().contiguous().t()))
    check("torch.compile(fullgraph=True)", torch.compile(lambda t: op(t * 1.0) + 0.0, fullgraph=True)(x))
    check("the same, dynamic shapes", torch.compile(lambda t: op(t * 1.0) + 0.0, fullgraph=True, dynamic=True)(x))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = op(x)
    torch.cuda.current_stream().wait_stream(stream)
    check("another stream", y)
    graph, static = torch.cuda.CUDAGraph(), torch.zeros_like(x)
    op(static)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        captured = op(static)
    static.copy_(x)
    graph.replay()
    torch.cuda.synchronize()
    check("CUDA graph", captured)
    torch.library.opcheck(op.op, (x,), test_utils=("test_schema", "test_faketensor"))
    print("torch.library.opcheck: passed")

    with torch.no_grad():
        ours, plain, raw = microseconds(lambda: op(x)), microseconds(lambda: torch.softmax(x, 1)), microseconds(lambda: op.op(x))
    print(f"a call: {ours:.1f} us, without the check for derivatives {raw:.1f} us; torch.softmax {plain:.1f} us; overhead {ours - plain:.1f} us")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
