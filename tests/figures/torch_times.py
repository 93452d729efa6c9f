# SPDX-License-Identifier: Apache-2.0
"""torch_times.py FILE.cu…: what PyTorch takes on this GPU for the `torch` line of each kernel file, at its declared
sizes: eager, and under torch.compile. One JSON object per line; times are medians in milliseconds with the 95 % interval
of the median (order statistics). L2 is flushed before each call by writing a buffer larger than it; that write also
hides the launch on the host, so what is timed is the device's work. The result is made contiguous, as a kernel file's
outputs are. TF32 is off: the kernel files ask for float32."""
import argparse
import json
import math
import pathlib
import re
import sys

import torch
import torch.nn.functional as F

CALLS = 200


def split(text):
    """At commas that stand outside of brackets."""
    parts, depth, begin = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[begin:index])
            begin = index + 1
    return [part.strip() for part in [*parts, text[begin:]]]


def directives(source, name):
    return [line[3:].split(None, 1)[1] for line in source.splitlines() if re.match(rf"//@\s*{name}\b", line)]


def read(path):
    """Sizes, inputs on the device and the expression; the first `size` line of several counts."""
    source = path.read_text()
    sizes = {}
    for item in split(directives(source, "size")[0].split("//")[0]):
        name, expression = item.split("=", 1)
        sizes[name.strip()] = integer(expression, sizes)
    inputs = {}
    generator = torch.Generator(device="cuda").manual_seed(1)
    for text in directives(source, "input"):
        name, dtype, extents, distribution = re.match(r"(\w+):\s*(\w+)\[([^\]]*)\](?:\s*~\s*(.*))?", text).groups()
        shape = [integer(extent, sizes) for extent in split(extents)]
        kind, *bounds = re.findall(r"[\w.+-]+", distribution or "normal")
        values = torch.empty(shape, device="cuda")
        if kind == "uniform":
            values.uniform_(*map(float, bounds), generator=generator)
        elif kind == "randint":
            values = torch.randint(*map(int, bounds), shape, device="cuda", generator=generator)
        else:
            values.normal_(generator=generator)
        inputs[name] = values.to(getattr(torch, dtype))
    return sizes, inputs


def integer(expression, sizes):
    return int(eval(expression.replace("/", "//"), {}, sizes))


def function(path, sizes, names, contiguous=True):
    """The torch line as a function of its inputs."""
    source = path.read_text()
    body = "".join(f"    {statement.strip()}\n" for statement in directives(source, "torch")[0].split(";"))
    outputs = [re.match(r"\w+", text)[0] for text in directives(source, "output")]
    scope = {"torch": torch, "F": F, "math": math, **sizes}
    exec(f"def line({', '.join(names)}):\n{body}    return {', '.join(name + '.contiguous()' * contiguous for name in outputs)}\n", scope)
    return scope["line"]


def times(call, flush):
    for _ in range(10):
        call()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(CALLS)]
    for begin, end in pairs:
        flush.zero_()
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    taken = sorted(begin.elapsed_time(end) for begin, end in pairs)
    half = 0.98 * CALLS ** 0.5  # 1.96 standard deviations of a binomial of one half, halved
    middle = CALLS / 2
    return {"ms": taken[CALLS // 2], "interval_ms": [taken[int(middle - half)], taken[int(middle + half)]]}


def measure(path, flush, compiles=True):
    sizes, inputs = read(path)
    line = function(path, sizes, list(inputs))
    arguments = list(inputs.values())
    result = {"task": path.stem, "torch": torch.__version__, "gpu": torch.cuda.get_device_name(), "sizes": sizes}
    with torch.no_grad():
        result["eager"] = times(lambda: line(*arguments), flush)
        if compiles:
            try:
                compiled = torch.compile(line)
                result["compile"] = times(lambda: compiled(*arguments), flush)
            except Exception as problem:  # the compiler's, whatever it is: the eager time stands
                result["compile_problem"] = str(problem).splitlines()[0]
    torch._dynamo.reset()
    return result


def warm(path):
    sizes, inputs = read(path)
    with torch.no_grad():
        torch.compile(function(path, sizes, list(inputs)))(*inputs.values())
    torch._dynamo.reset()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--tf32", action="store_true", help="PyTorch's own setting: convolutions in TF32; eager only")
    parser.add_argument("--warm", action="store_true", help="compile only, so that a later process finds it in the cache")
    options = parser.parse_args()
    globals()["CALLS"] = options.calls
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = options.tf32
    if options.warm:
        for path in options.files:
            warm(path)
        return
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    for path in options.files:
        try:
            print(json.dumps(measure(path, flush, not options.tf32)), flush=True)
        except Exception as problem:  # one line must not end the table
            print(json.dumps({"task": path.stem, "problem": str(problem).splitlines()[0]}), flush=True)


if __name__ == "__main__":
    main()
