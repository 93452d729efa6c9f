# SPDX-License-Identifier: Apache-2.0
"""Kernel files of playbook_candidates as machine code, by NVRTC, kept in a folder:

  cubins.py KEPT FOLDER...      # all of FOLDER/candidates.json, folder after folder, on three quarters of the cores

candidate_times.py and product_errors.py take what lies there (--cubins KEPT) and compile the rest themselves."""
import ctypes
import glob
import hashlib
import json
import multiprocessing
import os
import pathlib
import pickle
import sys

ARCHITECTURE = "sm_90"
CUDA = "/usr/local/cuda"
KEPT = None  # the folder, a pathlib.Path


def nvrtc():
    names = glob.glob(f"{CUDA}/lib64/libnvrtc.so.1*") + glob.glob(f"{CUDA}/targets/x86_64-linux/lib/libnvrtc.so.1*")
    for root in sys.path:
        names += glob.glob(f"{root}/nvidia/*/lib/libnvrtc.so.1*")
    names = [name for name in names if "builtins" not in name and "alt" not in name]
    return ctypes.CDLL(names[0] if names else "libnvrtc.so")


def compile_one(row):
    """The cubin and the lowered names of its kernels, or None and what the compiler said."""
    kernels = sorted({step["kernel"] for step in row["steps"] if "kernel" in step})
    kept = KEPT and KEPT / hashlib.sha256("\n".join([row["source"], *kernels]).encode()).hexdigest()
    if kept and kept.exists():
        return pickle.loads(kept.read_bytes())
    made = compiled(row["source"], kernels)
    if kept:
        part = kept.with_name(f"{kept.name}.{os.getpid()}")
        part.write_bytes(pickle.dumps(made))
        part.replace(kept)
    return made


def compiled(source, kernels):
    library = nvrtc()
    program = ctypes.c_void_p()
    # Of the driver's header kernels need the tensor map alone; NVRTC has not got what the header includes.
    text = source.replace("#include <cuda.h>", "typedef struct __align__(64) CUtensorMap_st { unsigned long long opaque[16]; } CUtensorMap;").encode()
    library.nvrtcCreateProgram(ctypes.byref(program), text, b"k.cu", 0, None, None)
    for kernel in kernels:
        library.nvrtcAddNameExpression(program, kernel.encode())
    architecture = ARCHITECTURE + ("a" if "wgmma" in source else "")
    options = [f"-arch={architecture}".encode(), b"-std=c++17", f"-I{CUDA}/include".encode()]
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


def keep_in(folder):
    global KEPT
    KEPT = pathlib.Path(folder)
    KEPT.mkdir(parents=True, exist_ok=True)


def main():
    keep_in(sys.argv[1])
    rows = [json.loads(line) for folder in sys.argv[2:] for line in (pathlib.Path(folder) / "candidates.json").read_text().splitlines()]
    with multiprocessing.Pool(max(1, os.cpu_count() * 3 // 4)) as pool:
        for _ in pool.imap(compile_one, rows):
            pass


if __name__ == "__main__":
    main()
