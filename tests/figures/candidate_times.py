# SPDX-License-Identifier: Apache-2.0
"""candidate_times.py CANDIDATES FILE.cu…: times every kernel file that the playbook offers for the tasks beside PyTorch,
all in one process and as torch_times.py does: a cold L2, medians of device times.

CANDIDATES is the output of playbook_candidates for the same files, each with one task. Results are compared with
PyTorch's. The first line is a copy of 128 MiB; then for each task eager, torch.compile and all candidates, one JSON
object per task. Needs PyTorch, NVRTC beside it, and a GPU."""
import argparse
import ctypes
import glob
import json
import multiprocessing
import os
import pathlib
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
    options = [f"-arch={ARCHITECTURE}".encode(), b"-std=c++17", b"--pre-include=math.h", f"-I{CUDA}/include".encode()]
    options = [option for option in options if b"pre-include" not in option]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("candidates", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.candidates.read_text().splitlines()]
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    # Children compile before this process touches the GPU.
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        compiled = pool.map(compile_one, rows, chunksize=4)
    if not options.no_compile:
        with multiprocessing.get_context("spawn").Pool(min(options.jobs, 12)) as pool:
            for problem in pool.imap_unordered(warm, map(str, options.files), chunksize=1):
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
    for path in options.files:
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
