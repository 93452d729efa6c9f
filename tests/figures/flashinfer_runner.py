#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a GPU: does flashinfer-bench's own runner accept the solutions that cudal1 wrote?

  python3 tests/figures/flashinfer_runner.py DATASET     # definitions/, workloads/ and solutions/ below it
  python3 tests/figures/flashinfer_runner.py DATASET --make CUDAL1   # writes definitions and workloads, and solutions with the simulator

The runner needs flashinfer-bench, apache-tvm-ffi, pydantic and docstring-parser from PyPI, PyTorch and nvcc. A line for each workload: what the runner
says of the solution, its largest errors, its time and that of the definition's reference in PyTorch. Exits with 1 where one does not pass.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import struct
import subprocess
import sys

BF16, F16 = "bfloat16", "float16"
NORM = """import torch

@torch.no_grad()
def run({0}):
    _, hidden_size = hidden_states.shape
    assert hidden_size == {1}
    EPS = {2}
    x = {3}
    inv_rms = torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + EPS)
    y = (x * inv_rms) * weight.to(torch.float32)
    return y.to(hidden_states.dtype)
"""
SILU = """import torch
import torch.nn.functional as F

@torch.no_grad()
def run(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    gate = x[..., :half].float()
    up = x[..., half:].float()
    return (F.silu(gate) * up).to(x.dtype)
"""
ROPE = """import torch

@torch.no_grad()
def run(q, cos_sin_cache, positions):
    half = cos_sin_cache.shape[1] // 2
    cos_sin = cos_sin_cache[positions]
    cos = cos_sin[:, :half].unsqueeze(1)
    sin = cos_sin[:, half:].unsqueeze(1)
    x = q.to(torch.float32)
    x1 = x[..., :half]
    x2 = x[..., half:]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1).to(q.dtype)
"""
# name, axes, inputs, outputs, reference, workloads
TASKS = [
    ("gemm_n1024_k1024", {"M": None, "N": 1024, "K": 1024}, {"A": ("M K", F16), "B": ("N K", F16)}, {"C": ("M N", F16)},
     "import torch\n\ndef run(A, B):\n    C = torch.matmul(A, B.T)\n    return C", [{"M": m} for m in (16, 64, 256, 1024)]),
    ("rmsnorm_h4096", {"batch_size": None, "hidden_size": 4096}, {"hidden_states": ("batch_size hidden_size", BF16), "weight": ("hidden_size", BF16)}, {"output": ("batch_size hidden_size", BF16)},
     NORM.format("hidden_states, weight", 4096, "1e-5", "hidden_states.to(torch.float32)"), [{"batch_size": n} for n in (1, 7, 64, 1024)]),
    ("fused_add_rmsnorm_h2048", {"batch_size": None, "hidden_size": 2048},
     {"hidden_states": ("batch_size hidden_size", BF16), "residual": ("batch_size hidden_size", BF16), "weight": ("hidden_size", BF16)}, {"output": ("batch_size hidden_size", BF16)},
     NORM.format("hidden_states, residual, weight", 2048, "1e-6", "hidden_states.to(torch.float32) + residual.to(torch.float32)"), [{"batch_size": n} for n in (1, 64, 2048)]),
    ("silu_mul_i4096", {"tokens": None, "two_i": 8192, "intermediate": 4096}, {"x": ("tokens two_i", BF16)}, {"out": ("tokens intermediate", BF16)}, SILU, [{"tokens": n} for n in (1, 128, 2048)]),
    ("rope_neox_d128", {"num_tokens": None, "num_heads": None, "max_seq_len": None, "head_size": 128, "rotary_dim": 128},
     {"q": ("num_tokens num_heads head_size", BF16), "cos_sin_cache": ("max_seq_len rotary_dim", "float32"), "positions": ("num_tokens", "int64")}, {"q_out": ("num_tokens num_heads head_size", BF16)},
     ROPE, [{"num_tokens": n, "num_heads": h, "max_seq_len": 4096} for n, h in ((7, 8), (128, 32), (512, 32))]),
]


def tensors(group):
    return {name: {"shape": shape.split(), "dtype": dtype} for name, (shape, dtype) in group.items()}


def make(root, cudal1):
    for folder in ("definitions", "workloads", "solutions/cudal1", "blob"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, axes, inputs, outputs, reference, workloads in TASKS:
        path = root / "definitions" / f"{name}.json"
        path.write_text(json.dumps({"name": name, "op_type": name.split("_")[0], "axes": {axis: {"type": "var"} if value is None else {"type": "const", "value": value} for axis, value in axes.items()},
                                    "inputs": tensors(inputs), "outputs": tensors(outputs), "reference": reference}, indent=1))
        lines = []
        for number, values in enumerate(workloads):
            given = {key: {"type": "random"} for key in inputs}
            if "positions" in given:
                draw, count = random.Random(number), values["num_tokens"]
                data = struct.pack(f"<{count}q", *(draw.randrange(values["max_seq_len"]) for _ in range(count)))
                header = json.dumps({"positions": {"dtype": "I64", "shape": [count], "data_offsets": [0, len(data)]}}).encode()
                (root / "blob" / f"{name}_{number}.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
                given["positions"] = {"type": "safetensors", "path": f"blob/{name}_{number}.safetensors", "tensor_key": "positions"}
            lines.append({"definition": name, "solution": None, "workload": {"uuid": f"{name}-{number}", "axes": values, "inputs": given}, "evaluation": None})
        (root / "workloads" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        subprocess.run([cudal1, "optimize", path, "--device", "sim", "--rounds", "1", "--samples", "3", "--confirmations", "1", "--allow-no-improvement", "--run-limit", "60", "--out", root / "runs" / name, "-o", root / "solutions/cudal1" / f"{name}.json"], check=True)


def build(root, name):
    """Before the runner, which would build one after the other."""
    from flashinfer_bench import TraceSet
    from flashinfer_bench.compile import BuilderRegistry
    data = TraceSet.from_path(str(root))
    BuilderRegistry.get_instance().build(data.definitions[name], data.solutions[name][0])


def judge(root):
    from flashinfer_bench import Benchmark, BenchmarkConfig, TraceSet
    names = sorted(path.stem for path in (root / "definitions").glob("*.json"))
    with concurrent.futures.ProcessPoolExecutor(len(names)) as pool:
        list(pool.map(build, [root] * len(names), names))
    benchmark = Benchmark(TraceSet.from_path(str(root)), BenchmarkConfig())
    try:
        result = benchmark.run_all(False)
    finally:
        benchmark.close()
    passed, geomeans = set(names), {}
    for name in names:
        for trace in result.traces.get(name, []):
            said = trace.evaluation
            line = f"{name:26} {str(trace.workload.axes):60} {said.status.value:10}"
            if said.status.value != "PASSED":
                passed.discard(name)
                line += "\n" + said.log[-1500:]
            else:
                line += (f" absolute {said.correctness.max_absolute_error:.2g} {1e3 * said.performance.latency_ms:8.1f} us, reference {1e3 * said.performance.reference_latency_ms:8.1f} us,"
                         f" {said.performance.speedup_factor:.2f}x")
                geomeans.setdefault(name, []).append(said.performance.speedup_factor)
            print(line)
        if not result.traces.get(name):
            passed.discard(name)
    print(f"{len(passed)} of {len(names)} definitions: the runner accepts the solution at every workload")
    return 0 if len(passed) == len(names) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("--make", metavar="CUDAL1")
    arguments = parser.parse_args()
    return make(arguments.dataset, arguments.make) if arguments.make else judge(arguments.dataset)


if __name__ == "__main__":
    sys.exit(main())
