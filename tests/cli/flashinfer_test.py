# SPDX-License-Identifier: Apache-2.0
"""Definitions of FlashInfer Trace as tasks, and solutions of them."""
import json
import shutil
import struct
import subprocess
import tempfile
import unittest

from fixture import CliTest

SIM = ("--device", "sim")
RMSNORM = """import torch

@torch.no_grad()
def run(hidden_states: torch.Tensor, weight, eps):
    \"\"\"Root mean square, with a ; and a "quote".\"\"\"
    batch_size, hidden_size = hidden_states.shape
    # Check constants
    assert hidden_size == 64
    input_dtype = hidden_states.dtype
    x = hidden_states.to(torch.float32)
    inv_rms = torch.rsqrt(
        x.pow(2).mean(dim=-1, keepdim=True)  # of a row
        + eps)
    y: torch.Tensor = (x * inv_rms) * weight.to(torch.float32)
    y *= 1.0
    return y.to(input_dtype)
"""
ROPE = """import torch

def run(q, cos_sin_cache, positions):
    half = cos_sin_cache.shape[1] // 2
    cos_sin = cos_sin_cache[positions]
    cos = cos_sin[:, :half].unsqueeze(1)
    sin = cos_sin[:, half:].unsqueeze(1)
    x = q.to(torch.float32)
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1).to(q.dtype)
"""


def definition(name, axes, inputs, outputs, reference):
    axes = {axis: {"type": "var"} if value is None else {"type": "expr", "expression": value} if isinstance(value, str) else {"type": "const", "value": value}
            for axis, value in axes.items()}
    tensors = [{key: {"shape": shape, "dtype": dtype} for key, (shape, dtype) in group.items()} for group in (inputs, outputs)]
    return {"name": name, "op_type": "op", "axes": axes, "inputs": tensors[0], "outputs": tensors[1], "reference": reference}


BF16 = "bfloat16"
DEFINITIONS = {
    "gemm": (definition("gemm_n32_k48", {"M": None, "N": 32, "K": 48}, {"A": (["M", "K"], "float16"), "B": (["N", "K"], "float16")}, {"C": (["M", "N"], "float16")},
                        "import torch\n\ndef run(A, B):\n    C = torch.matmul(A, B.T)\n    return C"), [({"M": 16}, {}), ({"M": 40}, {})]),
    "rmsnorm": (definition("rmsnorm_h64", {"batch_size": None, "hidden_size": 64}, {"hidden_states": (["batch_size", "hidden_size"], BF16), "weight": (["hidden_size"], BF16), "eps": (None, "float32")},
                           {"output": (["batch_size", "hidden_size"], BF16)}, RMSNORM), [({"batch_size": n}, {"eps": {"type": "scalar", "value": 1e-5}}) for n in (1, 33)]),
    "fused_add_rmsnorm": (definition("fused_add_rmsnorm_h64", {"n": None, "h": 64}, {"x": (["n", "h"], BF16), "residual": (["n", "h"], BF16)}, {"y": (["n", "h"], BF16), "sum": (["n", "h"], BF16)},
                                     "import torch\n\ndef run(a, r):\n    s = a.float() + r.float()\n    y = s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + 1e-6)\n    return y.to(a.dtype), s.to(a.dtype)"),
                          [({"n": 5}, {}), ({"n": 12}, {})]),
    "silu_mul": (definition("silu_mul_i32", {"tokens": None, "two_i": 64, "intermediate": "two_i // 2"}, {"x": (["tokens", "two_i"], BF16)}, {"out": (["tokens", "intermediate"], BF16)},
                            "import torch\nimport torch.nn.functional as F\n\ndef run(x):\n    half = x.shape[-1] // 2\n    return (F.silu(x[..., :half].float()) * x[..., half:].float()).to(x.dtype)"),
                 [({"tokens": 7}, {}), ({"tokens": 20}, {})]),
    "rope": (definition("rope_neox_d16", {"num_tokens": None, "num_heads": None, "max_seq_len": None, "head_size": 16},
                        {"q": (["num_tokens", "num_heads", "head_size"], BF16), "cos_sin_cache": (["max_seq_len", "head_size"], "float32"), "positions": (["num_tokens"], "int64")},
                        {"q_out": (["num_tokens", "num_heads", "head_size"], BF16)}, ROPE),
             [({"num_tokens": n, "num_heads": 4, "max_seq_len": 50}, {"positions": {"type": "safetensors", "path": f"blob/{n}.safetensors", "tensor_key": "positions"}}) for n in (6, 9)]),
}


def safetensors(values):
    data = struct.pack(f"<{len(values)}q", *values)
    header = json.dumps({"__metadata__": {}, "positions": {"dtype": "I64", "shape": [len(values)], "data_offsets": [0, len(data)]}}).encode()
    return struct.pack("<Q", len(header)) + header + data


class FlashInfer(CliTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-test-")   # of what is compiled, for all tests
        cls.addClassCleanup(folder.cleanup)
        cls.cache = folder.name

    def setUp(self):
        super().setUp()
        self.environment["XDG_CACHE_HOME"] = self.cache

    def put(self, name, change=None, workloads=None):
        """Writes a definition and its workloads; returns its path."""
        made, works = DEFINITIONS[name]
        made = json.loads(json.dumps(made))
        if change:
            change(made)
        self.write(f"set/definitions/{made['name']}.json", json.dumps(made))
        lines = workloads or [{"uuid": f"{i}", "axes": axes, "inputs": {key: extra.get(key, {"type": "random"}) for key in made["inputs"]}} for i, (axes, extra) in enumerate(works)]
        self.write(f"set/workloads/op/{made['name']}.jsonl", "".join(json.dumps({"definition": made["name"], "solution": None, "workload": line, "evaluation": None}) + "\n" for line in lines))
        for count in (6, 9):
            self.write(f"set/blob/{count}.safetensors", safetensors([(7 * i + count) % 50 for i in range(count)]))
        return f"set/definitions/{made['name']}.json"

    def test_each_kind_is_a_task_at_all_its_workloads_and_its_winner_a_solution(self):
        for name, (made, works) in DEFINITIONS.items():
            with self.subTest(name):
                path = self.put(name)
                result = self.run_cli("optimize", path, *SIM, "--rounds", "1", "--samples", "1", "--confirmations", "1", "--allow-no-improvement", "--out", f"run-{name}", "-o", f"{name}.json", "--json").json()
                variant = result["variants"][0]["judgement"]
                self.assertIn(variant["verdict"], ("PREDICTED_FASTER", "PREDICTED_EQUIVALENT"), variant)
                self.assertEqual(len(variant["workloads"]), len(works))
                solution = json.loads((self.work / f"{name}.json").read_text())
                self.assertEqual((solution["definition"], solution["spec"]["entry_point"], solution["spec"]["language"], solution["spec"]["binding"], solution["spec"]["destination_passing_style"]),
                                 (made["name"], "kernel.cu::run", "cuda", "tvm-ffi", True))
                self.assertEqual([source["path"] for source in solution["sources"]], ["kernel.cu"])
                self.assertIn("TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, cudal1_solution::run)", solution["sources"][0]["content"])

    def test_the_reference_is_taken_statement_by_statement(self):
        self.run_cli("optimize", self.put("rmsnorm"), *SIM, "--rounds", "1", "--samples", "1", "--confirmations", "1", "--out", "run", "--allow-no-improvement")
        task = (self.work / "run/task.cu").read_text()
        line = next(each for each in task.splitlines() if each.startswith("//@ torch"))
        self.assertEqual(line.split(None, 2)[2], "batch_size, hidden_size = hidden_states.shape; input_dtype = torch.bfloat16; x = hidden_states.to(torch.float32); "
                         "inv_rms = torch.rsqrt(         x.pow(2).mean(dim=-1, keepdim=True)           + eps); y = (x * inv_rms) * weight.to(torch.float32); y = y * (1.0); output = y.to(input_dtype)")
        self.assertIn("//@ scalar  eps: float32 = 1e-05", task)
        self.assertIn("//@ input   hidden_states: bfloat16[batch_size, 64]", task)

    def test_a_wrong_variant_is_refused(self):
        path = self.put("silu_mul")
        self.run_cli("optimize", path, *SIM, "--rounds", "1", "--samples", "1", "--confirmations", "1", "--allow-no-improvement", "--out", "run", "-o", "best.cu")
        good = (self.work / "best.cu").read_text()
        self.run_cli("verify", path, "best.cu", *SIM)
        wrong = good.replace("expf(-", "expf(-1.1f * ").replace("exp(-", "exp(-1.1f * ")
        self.assertNotEqual(good, wrong)
        self.write("wrong.cu", wrong)
        self.refuses("verify", path, "wrong.cu", *SIM, code=6, says=("WRONG_RESULT",))

    def test_a_file_that_does_not_fit_its_workload_is_named(self):
        path = self.put("rope")
        for content, says in ((safetensors([1, 2, 3]), "9.safetensors: it holds 3 elements, but the input has 9"),
                              (safetensors([1] * 9).replace(b"I64", b"F64"), "it holds float64, but the input is int64"),
                              (safetensors([1] * 9).replace(b"positions", b"elsewhere"), 'it has no tensor "positions"'),
                              (b"PK", "it is no safetensors file")):
            self.write("set/blob/9.safetensors", content)
            self.refuses("verify", path, "/dev/null", *SIM, code=10, says=(says,))
        (self.work / "set/blob/9.safetensors").unlink()
        self.refuses("verify", path, "/dev/null", *SIM, code=11, says=("the input file blob/9.safetensors is neither in its folder",))

    def test_what_is_not_understood_is_named(self):
        def reference(text):
            return lambda made: made.update(reference=f"import torch\n\ndef run(x):\n    half = x.shape[-1] // 2\n{text}")
        cases = [
            (lambda made: made["inputs"]["x"].update(dtype="float8_e4m3fn"), ("x: the type float8_e4m3fn is not understood",)),
            (lambda made: made["axes"]["tokens"].update(type="dynamic"), ('axis tokens: the type "dynamic" is not understood',)),
            (lambda made: made["outputs"]["out"].update(shape=None), ("the output out is a Python number",)),
            (reference("    for i in range(4):\n        x = x + 1\n    return x\n"), ('line 5 of its reference: "for" is not understood',)),
            (reference("    x[..., half:] = 0\n    return x\n"), ("assigns to a part of a tensor",)),
            (reference("    return torch.fft.fft(x)\n"), ("its reference cannot be evaluated", "torch.fft.fft")),
            (reference("    return x, x\n"), ("it returns 2 values, but the definition has 1 outputs",)),
        ]
        for change, says in cases:
            with self.subTest(says[0]):
                self.refuses("verify", self.put("silu_mul", change), "/dev/null", *SIM, code=10, says=says)
        custom = [{"uuid": "a", "axes": {"tokens": 4}, "inputs": {"x": {"type": "custom"}}}]
        self.refuses("verify", self.put("silu_mul", workloads=custom), "/dev/null", *SIM, code=10, says=('made by the definition\'s own function ("custom")',))
        self.write("alone.json", json.dumps(DEFINITIONS["gemm"][0]))
        self.refuses("verify", "alone.json", "/dev/null", *SIM, code=11, says=("there are no workloads",))
        self.write("other.json", '{"a": 1}')
        self.refuses("verify", "other.json", "/dev/null", *SIM, code=10, says=("it is no definition of FlashInfer Trace",))

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
    def test_a_solution_for_pytorch_and_its_kernels_are_cuda(self):
        self.run_cli("optimize", self.put("gemm"), *SIM, "--rounds", "1", "--samples", "1", "--confirmations", "1", "--allow-no-improvement", "-o", "gemm.sol.json")
        solution = json.loads((self.work / "gemm.sol.json").read_text())
        self.assertEqual((solution["spec"]["languages"], solution["spec"]["target_hardware"], solution["spec"]["binding"]), (["cuda_cpp"], ["LOCAL"], "torch"))
        source = solution["sources"][0]["content"]
        self.write("kernel.cu", source[:source.index("#include <ATen/")])
        subprocess.run(["nvcc", "-arch=sm_80", "-std=c++17", "-ptx", "kernel.cu", "-o", "kernel.ptx"], cwd=self.work, check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main()
