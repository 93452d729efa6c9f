#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a GPU: an operator from cudal1.load is right under torch.compile, in a CUDA graph and on another stream, and what a call costs.

  PYTHONPATH=python CUDAL1_PROGRAM=build/release/cli/cudal1 python3 tests/figures/python_operator.py [--no-plain]

The operator is examples/softmax.cu as it is. Its cost is that of the calling thread: many calls queued, none waited for. Beside it stand
plain operators that run the same kernel: one of torch.library in C++ (plain_operator.cpp, compiled now, which takes nvcc and half a minute;
--no-plain leaves it out), one of torch.library in Python, and torch.softmax. A table says where the time goes. Exits with 1 where a result is wrong.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

import cudal1
from cudal1 import operator as operators

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "softmax.cu"
CPLUSPLUS, PYTHON, PYTORCH, OURS = "plain operator, torch.library in C++", "plain operator, torch.library in Python", "torch.softmax", "cudal1 operator, op(x)"
BUILD = """
import sys
from torch.utils.cpp_extension import load
print(load("cudal1_plain", [sys.argv[1] + "/plain_operator.cpp", sys.argv[1] + "/plain_operator.cu"], build_directory=sys.argv[2], is_python_module=False))
"""


def microseconds(calls, count=200, times=15):
    """Of each call by its name, the least of some means; the calls take turns, so that all have the same machine."""
    for call in calls.values():
        for _ in range(50):
            call()
        torch.cuda.synchronize()
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(times):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(count):
                call()
            best[name] = min(best[name], 1e6 * (time.perf_counter() - begin) / count)
            torch.cuda.synchronize()
    return best


def right_everywhere(op, x, name):
    """The names of what is wrong."""
    truth, wrong = torch.softmax(x, 1), []

    def check(what, y):
        right = torch.allclose(y, truth, rtol=1e-5, atol=1e-6)
        print(f"{name}, {what}: {'right' if right else 'WRONG'}", flush=True)
        wrong.extend([] if right else [what])

    check("eager", op(x))
    check("again", op(x))
    check("not contiguous", op(x.t().contiguous().t()))
    check("torch.compile(fullgraph=True)", torch.compile(lambda t: op(t * 1.0) + 0.0, fullgraph=True)(x))
    check("the same, dynamic shapes", torch.compile(lambda t: op(t * 1.0) + 0.0, fullgraph=True, dynamic=True)(x))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = op(x)
    torch.cuda.current_stream().wait_stream(stream)
    check("another stream", y)
    # Behind a kernel that keeps this stream busy; on any other stream it would be ready before the input is.
    late = torch.zeros_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late.copy_(x)
        y = op(late)
    torch.cuda.current_stream().wait_stream(stream)
    check("in the stream's order", y)
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
    print(f"{name}, torch.library.opcheck: passed", flush=True)
    return wrong


def python_operator():
    """A plain operator of torch.library, in Python: it allocates its output and has PyTorch's own kernel fill it."""
    @torch.library.custom_op("cudal1_plain::python_softmax", mutates_args=())
    def softmax(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        torch.softmax(x, 1, out=y)
        return y

    return softmax


def parts_in_python(quick, x):
    """What the way through Python alone is made of."""
    step, stream, y = quick.steps[0], torch.cuda.current_stream().cuda_stream, torch.empty_like(x)
    addresses = [x.data_ptr(), y.data_ptr()]

    def check():
        return type(x) is torch.Tensor, x.shape == quick.wanted[0][1], x.dtype is torch.float32, x.device != quick.device, x.is_contiguous(), x.data_ptr() % 256

    return {"  of this: check of a tensor (shape, type, device, contiguous, address)": check,
            "  of this: output, torch.empty from Python": lambda: torch.empty(x.shape, dtype=x.dtype, device=x.device),
            "  of this: launch through ctypes": lambda: step(addresses, stream),
            "  of this: current stream": lambda: operators._raw_stream(0)}


def calls_on(x, op, slow, plain):
    """Names of rows, and what is called."""
    calls = {}
    if plain:
        ops = torch.ops.cudal1_plain
        calls[CPLUSPLUS] = lambda: ops.softmax(x)
        calls["  the same, overload named"] = lambda: ops.softmax.default(x)
        calls["  of this: a call from Python into C++ that does nothing"] = lambda: ops.nothing(x)
    in_python = python_operator()
    calls[PYTHON] = lambda: in_python(x)
    calls[PYTORCH] = lambda: torch.softmax(x, 1)
    calls[OURS] = lambda: op(x)
    calls["  op.op(x), without its Python"] = lambda: op.op(x)
    if slow is not None:
        calls["  its C++ function, without torch.ops' Python"] = lambda: op.direct(x)
        calls["cudal1 operator without the launcher"] = lambda: slow(x)
    quick = (slow or op)._threads.quick
    return calls | (parts_in_python(quick, x) if quick is not None else {})


def main():
    x = torch.randn(64, 128, device="cuda")
    folder = tempfile.TemporaryDirectory()
    building = None
    if "--no-plain" not in sys.argv:
        building = subprocess.Popen([sys.executable, "-c", BUILD, HERE, folder.name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    op = cudal1.load(EXAMPLE, shapes="any")
    native = getattr(op, "native", False)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Python {sys.version.split()[0]}; through the launcher: {'yes' if native else 'no'}")
    wrong = right_everywhere(op, x, "operator")
    slow = cudal1.load(EXAMPLE, shapes="any", launcher=False) if native else None
    wrong += right_everywhere(slow, x, "without the launcher") if native else []
    plain = False
    if building is not None:
        _, said = building.communicate()
        plain = building.returncode == 0
        print(said[-1500:] if not plain else "", end="")
    if plain:
        torch.ops.load_library(str(pathlib.Path(folder.name) / "cudal1_plain.so"))
    calls = calls_on(x, op, slow, plain)
    with torch.no_grad():
        without = microseconds(calls)
    with torch.enable_grad():
        enabled = microseconds(calls)
    print("\n| a call from Python, none waited for, us | without gradients | gradients enabled |\n| --- | ---: | ---: |")
    for name in calls:
        print(f"| {name} | {without[name]:.2f} | {enabled[name]:.2f} |")
    for name in ("allocate", "launch", "stream") if plain else ():
        print(f"| within C++: {name} | {min(torch.ops.cudal1_plain.part(x, name, 500) for _ in range(20)):.2f} | |")
        torch.cuda.synchronize()
    for rival in (CPLUSPLUS, PYTHON, PYTORCH):
        if rival in calls:
            print(f"more than {rival}: {without[OURS] - without[rival]:.2f} us, gradients enabled {enabled[OURS] - enabled[rival]:.2f} us")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
