# SPDX-License-Identifier: Apache-2.0
"""Times every kernel file that the playbook offers for some tasks beside PyTorch, all in one process and as torch_times.py
does: a cold L2, medians of device times.

  candidate_times.py --split FOLDER lines/memory.cu                # one file per task
  playbook_candidates FOLDER/*.cu > FOLDER/candidates.json         # ninja playbook_candidates; needs no GPU
  candidate_times.py FOLDER > times.json                           # PyTorch, NVRTC and a GPU
  candidate_times.py --table times.json

Results are compared with PyTorch's. The first line is a copy of 128 MiB; then for each task eager, torch.compile and all
candidates, one JSON object per task."""
import argparse
import ctypes
import glob
import json
import multiprocessing
import os
import pathlib
import statistics
import sys

ARCHITECTURE = "sm_90"
CUDA = "/usr/local/cuda"


def nvrtc():
    names = glob.glob(f"{CUDA}/lib64/libnvrtc.so.1*") + glob.glob(f"{CUDA}/targets/x86_64-linux/lib/libnvrtc.so.1*")
    for root in sys.path:
        names += glob.glob(f"{root}/nvidia/*/lib/libnvrtc.so.1*")
    names = [name for name in names if "builtins" not in name and "alt" not in name]
    return ctypes.CDLL(names[0] if names else "libnvrtc.so")


def compile_one(row):
    """The cubin and the lowered names of its kernels, or what the compiler said."""
    library = nvrtc()
    program = ctypes.c_void_p()
    source = row["source"].encode()
    library.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None)
    kernels = sorted({step["kernel"] for step in row["steps"] if "kernel" in step})
    for kernel in kernels:
        library.nvrtcAddNameExpression(program, kernel.encode())
    options = [f"-arch={ARCHITECTURE}".encode(), b"-std=c++17", f"-I{CUDA}/include".encode()]
    failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if failed:
        size = ctypes.c_size_t()
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        return None, log.value.decode()[:400]
    names = {}
    for kernel in kernels:
        lowered = ctypes.c_char_p()
        library.nvrtcGetLoweredName(program, kernel.encode(), ctypes.byref(lowered))
        names[kernel] = lowered.value.decode()
    size = ctypes.c_size_t()
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    return cubin.raw, names


def warm(path):
    import torch_times
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    try:
        torch_times.warm(pathlib.Path(path))
    except Exception as problem:
        return f"{path}: {problem}"
    return None


class Call:
    """A member's launches on a stream, with everything made ready before."""

    def __init__(self, driver, module, names, row, buffers):
        self.driver, self.steps = driver, []
        for step in row["steps"]:
            if "memset" in step:
                base, size = buffers[step["memset"]]
                self.steps.append((None, base, step["value"], size))
                continue
            function = ctypes.c_void_p()
            check(driver.cuModuleGetFunction(ctypes.byref(function), module, names[step["kernel"]].encode()))
            if step["shared"] > 48 << 10:
                check(driver.cuFuncSetAttribute(function, 8, step["shared"]))
            values = []
            for argument in step["arguments"]:
                if "buffer" in argument:
                    values.append(ctypes.c_uint64(buffers[argument["buffer"]][0] + argument["offset"]))
                else:
                    data = bytes.fromhex(argument["bytes"])
                    values.append((ctypes.c_char * len(data)).from_buffer_copy(data))
            pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
            self.steps.append((function, [*step["grid"], *step["block"], step["shared"]], pointers, values))

    def __call__(self, stream):
        for function, what, third, fourth in self.steps:
            if function is None:
                check(self.driver.cuMemsetD8Async(ctypes.c_uint64(what), third, ctypes.c_size_t(fourth), stream))
            else:
                check(self.driver.cuLaunchKernel(function, *what, stream, third, None))


def check(status):
    if status:
        raise RuntimeError(f"CUDA says {status}")


def table(rows):
    """As Markdown; a candidate that was wrong is no candidate."""
    ratios = []
    print("| line | ms | share of a copy's rate | eager | torch.compile |\n| --- | ---: | ---: | ---: | ---: |")
    for row in rows[1:]:
        right = [member["ms"] for member in row["members"] if member.get("right")]
        if not right:
            print(f"| {row['task']} | - | - | - | - |")
            continue
        best = min(right)
        compiled = row["compile_ms"] / best if "compile_ms" in row else None
        ratios += [compiled] if compiled else []
        print(f"| {row['task']} | {best:.4f} | {row['copy_share_of_best']:.0%} | {row['eager_ms'] / best:.2f}x | "
              f"{f'{compiled:.2f}x' if compiled else '-'} |")
    if ratios:
        print(f"\nGeometric mean against torch.compile: {statistics.geometric_mean(ratios):.2f}x over {len(ratios)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=pathlib.Path, help="a folder of tasks, or the file to split or tabulate")
    parser.add_argument("--split", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    if options.split:
        import lines

        options.split.mkdir(parents=True, exist_ok=True)
        for name, text in lines.split(options.path).items():
            (options.split / f"{name}.cu").write_text(text)
        return
    if options.table:
        return table([json.loads(line) for line in options.path.read_text().splitlines()])
    files = sorted(options.path.glob("*.cu"))
    rows = [json.loads(line) for line in (options.path / "candidates.json").read_text().splitlines()]
    # Children compile before this process touches the GPU.
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        compiled = pool.map(compile_one, rows, chunksize=4)
    if not options.no_compile:
        with multiprocessing.get_context("spawn").Pool(min(options.jobs, 12)) as pool:
            for problem in pool.imap_unordered(warm, map(str, files), chunksize=1):
                if problem:
                    print(problem, file=sys.stderr)

    import torch
    import torch_times

    torch_times.CALLS = options.calls
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.cuda.init()
    driver = ctypes.CDLL("libcuda.so.1")
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def time(call):
        return torch_times.times(call, flush)["ms"]

    source = torch.randn(1 << 25, device="cuda")
    target = torch.empty_like(source)
    copy_ms = time(lambda: target.copy_(source))
    rate = 2 * source.nbytes / copy_ms * 1000
    del source, target
    print(json.dumps({"copy_of_mib": 128, "ms": copy_ms, "bytes_per_second": rate, "torch": torch.__version__,
                      "gpu": torch.cuda.get_device_name()}), flush=True)
    for path in files:
        mine = [(row, made) for row, made in zip(rows, compiled) if row["task"] == path.stem]
        sizes, inputs = torch_times.read(path)
        line = torch_times.function(path, sizes, list(inputs))
        result = {"task": path.stem}
        with torch.no_grad():
            expected = line(*inputs.values())
            result["eager_ms"] = time(lambda: line(*inputs.values()))
            if not options.no_compile:
                try:
                    faster = torch.compile(line)
                    result["compile_ms"] = time(lambda: faster(*inputs.values()))
                except Exception as problem:
                    result["compile_problem"] = str(problem).splitlines()[0]
                torch._dynamo.reset()
            expected = list(expected) if isinstance(expected, tuple) else [expected]
            outputs = [text.split(":")[0].strip() for text in torch_times.directives(path.read_text(), "output")]
            result["members"] = []
            for row, (cubin, names) in mine:
                member = {"id": row["id"], "tunables": row.get("tunables") or {}}
                result["members"].append(member)
                if cubin is None:
                    member["problem"] = names
                    continue
                module = ctypes.c_void_p()
                check(driver.cuModuleLoadData(ctypes.byref(module), cubin))
                held, buffers = {}, []
                for buffer in row["buffers"]:
                    name = buffer["name"]
                    if name in inputs:
                        held[name] = inputs[name].contiguous()
                    elif name in outputs:
                        held[name] = torch.full_like(expected[outputs.index(name)], 77)
                    else:
                        held[name] = torch.full([buffer["bytes"]], 127, dtype=torch.uint8, device="cuda")
                    buffers.append((held[name].data_ptr(), held[name].nbytes))
                call = Call(driver, module, names, row, buffers)
                call(stream)
                torch.cuda.synchronize()
                member["right"] = all(torch.allclose(held[name].double(), value.double(), rtol=1e-3, atol=1e-3 * float(value.double().abs().max()), equal_nan=True)
                                      for name, value in zip(outputs, expected))
                member["ms"] = time(lambda: call(stream))
                del held
                check(driver.cuModuleUnload(module))
        bytes_needed = mine[0][0]["bytes"] if mine else 0
        result["copy_share_of_best"] = max((bytes_needed / rate * 1000 / m["ms"] for m in result["members"] if m.get("right")), default=0)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
