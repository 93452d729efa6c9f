# SPDX-License-Identifier: Apache-2.0
"""Errors of the playbook's float32-accurate products on six distributions, beside cuBLAS's in float32 and TF32: relative root mean
squares against float64.

  candidate_times.py --split FOLDER lines/warpgroups.cu
  playbook_candidates FOLDER/product_4096.cu > FOLDER/candidates.json
  product_errors.py FOLDER product_4096 [--label warpgroups]       # PyTorch, NVRTC and a GPU"""
import argparse
import ctypes
import json
import pathlib

import candidate_times
import cubins
import torch_times


def distributions(torch, left, right):
    """Pairs of factors by name; each keeps its seed."""
    def made(name, shape, seed):
        generator = torch.Generator(device="cuda").manual_seed(seed)
        normal = torch.randn(shape, device="cuda", generator=generator)
        uniform = torch.rand(shape, device="cuda", generator=generator)
        if name == "uniform [0, 1)":
            return uniform
        if name == "a linear layer's" and seed == 2:
            return (2 * uniform - 1) / shape[0] ** 0.5
        if name == "2^-10 to 2^10":
            return normal * torch.exp2(20 * uniform - 10)
        if name == "outliers of 1e4":
            return torch.where(uniform < 0.001, normal * 1e4, normal)
        if name == "2^-30 to 1":
            return normal * torch.exp2(-30 * uniform)
        return normal

    for name in ("normal", "uniform [0, 1)", "a linear layer's", "2^-10 to 2^10", "outliers of 1e4", "2^-30 to 1"):
        yield name, made(name, left, 1), made(name, right, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("task")
    parser.add_argument("--label", default="warpgroups")
    parser.add_argument("--cubins", metavar="FOLDER", help="where cubins.py keeps what it compiled")
    options = parser.parse_args()
    if options.cubins:
        cubins.keep_in(options.cubins)
    import torch

    rows = [json.loads(line) for line in (options.folder / "candidates.json").read_text().splitlines()]
    row = next(row for row in rows if row["task"] == options.task and row["id"].endswith(options.label))
    cubin, names = cubins.compile_one(row)
    assert cubin, names
    torch.cuda.init()
    driver, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    torch.zeros(1, device="cuda")
    candidate_times.check(driver.cuModuleLoadData(ctypes.byref(module), cubin))
    sizes, inputs = torch_times.read(options.folder / f"{options.task}.cu")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    print("| factors | ours | cuBLAS float32 | cuBLAS TF32 |\n| --- | ---: | ---: | ---: |")
    shapes = [tuple(value.shape) for value in inputs.values()]
    for name, a, b in distributions(torch, *shapes):
        truth = a.double() @ b.double()

        def error(value):
            return float((value.double() - truth).norm() / truth.norm())

        torch.backends.cuda.matmul.allow_tf32 = False
        plain = error(a @ b)
        torch.backends.cuda.matmul.allow_tf32 = True
        tf32 = error(a @ b)
        held = dict(zip(inputs, (a, b)))
        for buffer in row["buffers"]:
            if buffer["name"] not in held:
                held[buffer["name"]] = torch.full([buffer["bytes"]], 127, dtype=torch.uint8, device="cuda")
        call = candidate_times.Call(driver, module, names, row, [(held[each["name"]].data_ptr(), held[each["name"]].nbytes) for each in row["buffers"]])
        call(stream)
        torch.cuda.synchronize()
        ours = error(held[next(each["name"] for each in row["buffers"] if each["name"] == "C")].view(torch.float32).reshape(truth.shape))
        print(f"| {name} | {ours:.1e} | {plain:.1e} | {tf32:.1e} |", flush=True)


if __name__ == "__main__":
    main()
