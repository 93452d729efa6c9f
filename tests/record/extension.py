# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program with an extension of its own, for `cudal1 record` on a GPU.

    extension.py build FOLDER [LIBRARY]        # with nvcc and PyTorch's headers; LIBRARY holds the kernel already built
    extension.py run FOLDER [REPEAT]           # the extension, as a custom operator
    extension.py ctypes LIBRARY [REPEAT]       # the kernel's library alone, on tensors' addresses
"""
import ctypes
import pathlib
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent


def build(folder, library=None):
    from torch.utils import cpp_extension
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    sources = [str(HERE / "extension.cpp")] + ([] if library else [str(HERE / "extension.cu")])
    flags = [str(pathlib.Path(library).resolve()), f"-Wl,-rpath,{pathlib.Path(library).resolve().parent}"] if library else []
    cpp_extension.load("recorded_extension", sources, build_directory=str(folder), with_cuda=True, is_python_module=False, extra_ldflags=flags)


def operator(folder):
    torch.ops.load_library(str(pathlib.Path(folder) / "recorded_extension.so"))
    return torch.ops.cudal1_recorded.scale_rows


def plain(library):
    function = ctypes.CDLL(str(library)).launch_scale_rows
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 2 + [ctypes.c_void_p]

    def scale_rows(x, bias):
        y = torch.empty_like(x)
        function(x.data_ptr(), bias.data_ptr(), y.data_ptr(), x.shape[0], x.shape[1], torch.cuda.current_stream().cuda_stream)
        return y
    return scale_rows


def main():
    what, place, *rest = sys.argv[1:]
    if what == "build":
        return build(place, *rest)
    scale_rows = operator(place) if what == "run" else plain(place)
    torch.manual_seed(0)
    x, bias = torch.randn(256, 1000, device="cuda"), torch.randn(1000, device="cuda")
    began = time.time()
    for _ in range(int(rest[0]) if rest else 3):
        y = scale_rows(x @ torch.eye(1000, device="cuda"), bias)
    torch.cuda.synchronize()
    expected = (x / x.abs().amax(1, keepdim=True)) + bias
    print(f"largest difference {(y - expected).abs().max().item():.2g}, {time.time() - began:.3f} s")


if __name__ == "__main__":
    main()
