# SPDX-License-Identifier: Apache-2.0
"""torch_times.py FILE.cu…: what PyTorch takes on this GPU for the `torch` line of each kernel file, at its declared
sizes: eager, and under torch.compile. One JSON object per line; times are medians in milliseconds with the 95 % interval
of the median (order statistics). L2 is flushed before each call by writing a buffer larger than it; that write also
hides the launch on the host, so what is timed is the device's work. The result is made contiguous, as a kernel file's
outputs are. TF32 is off: the kernel files ask for float32."""
import json
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
        sizes[name.strip()] = int(eval(expression.replace("/", "//"), {}, sizes))
    inputs = {}
    generator = torch.Generator(device="cuda").manual_seed(1)
    for text in directives(source, "input"):
        name, dtype, extents = re.match(r"(\w+):\s*(\w+)\[([^\]]*)\]", text).groups()
        shape = [int(eval(extent, {}, sizes)) for extent in split(extents)]
        inputs[name] = torch.randn(shape, device="cuda", generator=generator).to(getattr(torch, dtype))
    expression = directives(source, "torch")[0].split("=", 1)[1].strip()
    return sizes, inputs, expression


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


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        sizes, inputs, expression = read(path)
        names = list(inputs)
        scope = {"torch": torch, "F": F, **sizes}
        function = eval(f"lambda {', '.join(names)}: ({expression}).contiguous()", scope)
        arguments = [inputs[name] for name in names]
        result = {"task": path.stem, "torch": torch.__version__, "gpu": torch.cuda.get_device_name(), "sizes": sizes}
        with torch.no_grad():
            result["eager"] = times(lambda: function(*arguments), flush)
            try:
                compiled = torch.compile(function)
                result["compile"] = times(lambda: compiled(*arguments), flush)
            except Exception as problem:  # the compiler's, whatever it is: the eager time stands
                result["compile_problem"] = str(problem).splitlines()[0]
        print(json.dumps(result), flush=True)
        torch._dynamo.reset()


if __name__ == "__main__":
    main()
