# SPDX-License-Identifier: Apache-2.0
"""One module as a task: its interface, its oracle, its gate, and what is said of broken ones."""

import re
import sys
import unittest

from tasks import HERE, TaskTest
import torch
from torch import nn

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
from task_cases import Cases, outlined  # noqa: E402
from task_module import TaskModule  # noqa: E402
from torch_line import derive  # noqa: E402

SWISH = HERE / "level1" / "4_Swish.py"
ANSWER = """\
//@ launch swish<<<ceil_div(4096, 256), 256>>>(x, output)
__global__ void swish(const float* x, float* output) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < 4096) output[i] = x[i] / (1 + expf(-x[i]));
}
"""
# Its float32 forward has operands of ten mantissa bits, as cuDNN has by default; in float64 it is exact.
TF32_CONVOLUTION = """\
def tf32(x):
    return ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8, 3, 3))

    def forward(self, x):
        weight = self.weight
        if x.dtype == torch.float32:
            x, weight = tf32(x.contiguous()), tf32(weight.detach().contiguous())
        return nn.functional.conv2d(x, weight)
"""
CONVOLUTION = """\
//@ launch convolution<<<2 * 8, 16>>>(x, weight, output)
__device__ float tf32(float v) { return __int_as_float((__float_as_int(v) + 0x1000) & -0x2000); }
__global__ void convolution(const float* x, const float* weight, float* output) {
  int n = blockIdx.x / 8, o = blockIdx.x % 8, row = threadIdx.x / 4, column = threadIdx.x % 4;
  double sum = 0;
  for (int c = 0; c < 8; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        int at = ((n * 8 + c) * 6 + row + i) * 6 + column + j, k = ((o * 8 + c) * 3 + i) * 3 + j;
        sum += double(x[at] * weight[k]);
      }
  output[blockIdx.x * 16 + threadIdx.x] = float(sum);
}
"""
FORWARD = "class Model(nn.Module):\n    def forward(self, {0}):\n        {1}"


class InterfaceTest(TaskTest):
    def directives(self, path, *arguments):
        text = self.run_cli("init", str(path), *arguments).out
        return [re.sub(r" +", " ", line[4:]) for line in text.splitlines() if line.startswith("//@ ")]

    def test_arguments_parameters_and_outputs_are_named(self):
        found = self.directives(HERE / "level2" / "4_Linear_BatchNorm_scale.py")
        self.assertIn("task L2_4_Linear_BatchNorm_scale", found)
        self.assertIn("input x: float32[24, 32]", found)
        self.assertIn("input linear_weight: float32[20, 32] // linear.weight", found)
        self.assertIn("input scale: float32[20]", found)
        self.assertIn("output output: float32[24, 20]", found)
        self.assertFalse([line for line in found if "running" in line], "running statistics are not read in train mode")

    def test_a_torch_line_is_derived(self):
        self.assertIn("torch t0 = torch.sigmoid(x); output = x.mul(t0)", self.directives(SWISH))
        self.assertFalse([line for line in self.directives(HERE / "level2" / "5_Linear_dropout.py") if line.startswith("torch")])

    def test_attention_of_several_heads_is_recorded_as_what_it_is_made_of(self):
        head = "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.MultiheadAttention("
        forms = {"8, 2)": "x, x, x", "8, 4, kdim=6, vdim=6, bias=False)": "x, y, y",
                 "8, 2, batch_first=True)": "x, x, x, attn_mask=torch.ones(4, 4).triu(1) * -1e30"}
        for form, call in forms.items():
            with self.subTest(form):
                path = self.module(f"{head}{form}\n    def forward(self, x, y):\n        return self.a({call})\n",
                                   "return [torch.rand(4, 4, 8), torch.rand(5, 4, 6)]")
                task = TaskModule(str(path), path.read_text(), {})
                model, arguments = task.build(42), task.make_inputs(42)
                line, problem, _ = derive(task, model, arguments)
                self.assertEqual(problem, "")
                self.assertNotIn("multi_head", line)
                names = {"torch": torch, "F": nn.functional}
                names |= {each["name"]: value for each, value in zip(task.inputs, task.input_tensors(arguments))}
                names |= {each["name"]: dict(task.state_tensors(model))[each["path"]] for each in task.state}
                with torch.no_grad():
                    exec(line, names)
                for got, wanted in zip((names["output0"], names["output1"]), task.forward(model, arguments)):
                    self.assertTrue(torch.allclose(got, wanted, atol=1e-6), form)

    def test_attention_with_dropout_has_no_torch_line(self):
        path = self.module("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                           "        self.a = nn.MultiheadAttention(8, 2, dropout=0.5)\n"
                           "    def forward(self, x):\n        return self.a(x, x, x)[0]\n", "return [torch.rand(4, 4, 8)]")
        task = TaskModule(str(path), path.read_text(), {})
        self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[1], "it draws random numbers (dropout)")

    def test_a_tensor_that_is_overwritten_whole_is_what_was_written(self):
        for forward, wanted in (("self.h.copy_(y); return torch.relu(x) + self.h", "t0 = torch.relu(x); output = t0.add(y)"),
                                ("self.h[0].copy_(y[0]); return torch.relu(x) + self.h", ""),
                                ("v = self.h.view(-1); self.h.copy_(y); return torch.relu(x) + v.view(4, 8)", "")):
            path = self.module(f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.h = torch.randn(4, 8)\n"
                               f"    def forward(self, x, y):\n        {forward}\n", "return [torch.rand(4, 8), torch.rand(4, 8)]")
            task = TaskModule(str(path), path.read_text(), {})
            self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[0], wanted)
            self.assertEqual(derive(task, outlined(task.build(42)), task.arguments)[0], wanted)

    def test_every_form_of_index_is_recorded(self):
        forms = {"x[0]": "output = x[0]", "x[:1]": "output = x[:1]", "x[None]": "output = x[None]", "x[y]": "output = x[y]"}
        for form, wanted in forms.items():
            with self.subTest(form):
                path = self.module(f"class Model(nn.Module):\n    def forward(self, x, y):\n        return {form}\n",
                                   "return [torch.rand(4, 8), torch.tensor([2, 0, 3])]")
                task = TaskModule(str(path), path.read_text(), {})
                self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[:2], (wanted, ""))
        path = self.module("class Model(nn.Module):\n    def forward(self, x):\n        x = x * 2\n        x[0] = 1\n        return x\n", "return [torch.rand(4, 8)]")
        task = TaskModule(str(path), path.read_text(), {})
        self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[1], "it overwrites a tensor (__setitem__)")
        self.assertNotIn("__getitem__", vars(torch.Tensor))

    def test_a_tensor_may_have_a_name_that_begins_with_an_underscore(self):
        path = self.module("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._mask = torch.randn(8, 8)\n"
                           "        self.register_buffer('_bias', torch.randn(8), persistent=False)\n"
                           "    def forward(self, x):\n        return x @ self._mask + self._bias\n", "return [torch.rand(4, 8)]")
        task = TaskModule(str(path), path.read_text(), {})
        wanted = "t0 = x.matmul(_mask); output = t0.add(_bias)"
        self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[0], wanted)
        self.assertEqual(derive(task, outlined(task.build(42)), task.arguments)[0], wanted)
        self.assertEqual([each["path"] for each in task.state], ["_bias", "_mask"])
        self.assertEqual(Cases(task).in_double(task.build(42), task.make_inputs(42))[0].dtype, torch.float64)

    def test_a_type_of_python_is_recorded_as_pytorchs(self):
        path = self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x.masked_fill(torch.ones(4, 8, dtype=bool), 2.0)\n", "return [torch.rand(4, 8)]")
        task = TaskModule(str(path), path.read_text(), {})
        self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[0], "t0 = torch.ones(4, 8, dtype=torch.bool); output = x.masked_fill(t0, 2.0)")

    def test_what_is_drawn_in_forward_is_named(self):
        path = self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x + torch.randn(4, 8)\n", "return [torch.rand(4, 8)]")
        task = TaskModule(str(path), path.read_text(), {})
        self.assertEqual(derive(task, task.build(42), task.make_inputs(42))[1], "it draws random numbers (randn)")

    def test_a_constant_can_be_set(self):
        self.assertIn("input x: float32[3, 256]", self.directives(SWISH, "--set", "batch_size=3"))

    def test_an_unknown_constant_is_named_with_those_there_are(self):
        result = self.run_cli("init", str(SWISH), "--set", "batch=3", code=10)
        self.assertIn("batch_size, dim", result.err)

    def test_other_types_scalars_and_several_outputs(self):
        self.assertIn("input mask: bool[12, 90]", self.directives(HERE / "level1" / "15_Masked_cumsum.py"))
        self.assertIn("input targets: int64[64]", self.directives(HERE / "level1" / "16_Cross_entropy.py"))
        self.assertIn("scalar s: float32 = 3.14", self.directives(HERE / "level1" / "2_Scaled_matrix.py"))
        found = self.directives(HERE / "level1" / "18_Max_and_index.py")
        self.assertIn("output output0: float32[20]", found)
        self.assertIn("output output1: int64[20]", found)

    def test_strides_and_none_are_said(self):
        self.assertIn("contiguous", self.run_cli("init", str(HERE / "level1" / "3_Triangular_product.py")).err)
        self.assertIn("bias is None", self.run_cli("init", str(HERE / "level1" / "19_Nothing_given.py")).err)

    def test_broken_modules_are_named_errors(self):
        cases = [("class Model(nn.Module:", "return []", "return []", "it is not Python"),
                 ("x = 1", "return []", "return []", "defines no Model"),
                 (FORWARD.format("x", "return x"), "return [torch.rand(2), torch.rand(2)]", "return []", "gives 2 values, but forward takes x"),
                 (FORWARD.format("x", "return x @ x"), "return [torch.rand(2, 3)]", "return []", "RuntimeError"),
                 (FORWARD.format("x", "return 1.0"), "return [torch.rand(2)]", "return []", "not a tensor"),
                 (FORWARD.format("x", "return x"), "return [torch.rand(2).to(torch.complex64)]", "return []", "complex64"),
                 (FORWARD.format("x", "return x"), "return ['a']", "return []", "input x is a str"),
                 (FORWARD.format("x", "import os; os._exit(3)"), "return [torch.rand(2)]", "return []", "process that holds PyTorch ended")]
        for model, inputs, init, wanted in cases:
            with self.subTest(wanted):
                result = self.run_cli("init", str(self.module(model, inputs, init)), code=10)
                self.assertIn(wanted, result.err)


class VerifyTest(TaskTest):
    def verify(self, task, answer, *arguments, **keywords):
        return self.run_cli("verify", str(task), str(self.write("answer.cu", answer)), "--device", "sim", *arguments, **keywords)

    def test_a_right_answer_is_right_for_both_rules(self):
        result = self.verify(SWISH, ANSWER)
        self.assertIn("PREDICTED_EQUIVALENT", result.out)
        self.assertIn("KernelBench accepts it at 1e-4", result.out)

    def test_more_trials_are_made_of_a_module_too(self):
        self.write("answer.cu", ANSWER)
        trials = [self.run_cli("verify", SWISH, "answer.cu", "--device", "sim", "--json", *more).json()["variants"][0]["judgement"]["errors"]["trials"]
                  for more in ((), ("--trials", "7"))]
        self.assertEqual(trials[1], trials[0] + 5)

    def test_an_answer_that_holds_in_the_declared_range_only_is_wrong(self):
        relu = HERE / "level1" / "5_ReLU.py"
        copy = ANSWER.replace("x[i] / (1 + expf(-x[i]))", "x[i]")
        result = self.verify(relu, copy, code=6)
        self.assertIn("WRONG_RESULT", result.out)
        self.assertNotIn("declared distribution", result.out)
        self.assertIn("INPUT_RANGE: an input passes as the output in the declared range", result.err)

    def test_an_error_that_kernelbench_lets_pass_is_wrong_here(self):
        result = self.verify(SWISH, ANSWER.replace("(1 + expf", "(1.00005f + expf"), code=6)
        self.assertIn("WRONG_RESULT", result.out)
        self.assertIn("KernelBench accepts it at 1e-4", result.out)

    def test_an_exact_convolution_is_right_where_the_reference_is_rounded_to_tf32(self):
        task = self.module(TF32_CONVOLUTION, "return [torch.rand(2, 8, 6, 6)]")
        judged = self.verify(task, CONVOLUTION, "--json").json()["variants"][0]["judgement"]
        self.assertEqual(judged["verdict"], "PREDICTED_EQUIVALENT", judged["message"])
        said = judged["kernelbench"]
        self.assertFalse(said["accepts_at_1e-4"], said)
        self.assertTrue(said["accepts_at_1e-2"], said)
        self.assertTrue(1e-4 < said["least_tolerance"] <= 1e-2, said)

    def test_an_answer_as_coarse_as_tf32_is_wrong_where_the_reference_is_exact(self):
        task = self.module(TF32_CONVOLUTION.replace("if x.dtype == torch.float32", "if False"), "return [torch.rand(2, 8, 6, 6)]")
        coarse = CONVOLUTION.replace("x[at] * weight[k]", "tf32(x[at]) * tf32(weight[k])")
        self.assertIn("WRONG_RESULT", self.verify(task, coarse, "--precision", "fp32", code=6).out)
        self.assertIn("PREDICTED_EQUIVALENT", self.verify(task, coarse).out)   # as PyTorch's own flags let a convolution be

    def test_a_degenerate_task_earns_no_speed_up(self):
        constant = HERE / "level1" / "20_Constant.py"
        answer = "//@ launch k<<<1, 32>>>(output)\n__global__ void k(float* output) { output[threadIdx.x] = 0; }\n"
        self.assertIn("TASK_DEGENERATE", self.verify(constant, answer, code=10).err)
        judged = self.verify(constant, answer, "--accept-degenerate", "--json").json()
        self.assertIn("TASK_DEGENERATE", [each["verdict"] for each in judged["findings"]])
        self.assertIn("no speed-up is earned", judged["variants"][0]["judgement"]["message"])

    def test_algebra_that_takes_the_arithmetic_away_is_remarked_on(self):
        answer = "//@ launch k<<<1, 1>>>(x, weight, output)\n__global__ void k(const float* x, const float* weight, float* output) {}\n"
        result = self.verify(HERE / "level2" / "3_Weight_sum.py", answer, code=6)
        self.assertIn("COLLAPSIBLE: algebra does without most of the arithmetic as written: linear sums", result.err)
        self.assertNotIn("COLLAPSIBLE", self.verify(SWISH, ANSWER).err)

    def test_tensors_without_elements_are_no_inputs(self):
        task = self.module("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                           "        self.none = nn.Parameter(torch.empty(0))\n    def forward(self, x, y):\n        return x * 2",
                           "return [torch.rand(4, 8), torch.rand(0, 3)]")
        answer = "//@ launch k<<<1, 32>>>(x, output)\n__global__ void k(const float* x, float* output) { output[threadIdx.x] = 2 * x[threadIdx.x]; }\n"
        result = self.verify(task, answer)
        self.assertIn("PREDICTED", result.out)
        self.assertIn("y has no elements", result.err)
        self.assertIn("none has no elements", result.err)

    def test_constants_of_one_set_of_weights_are_no_answer(self):
        task = self.module("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                           "        self.bias = nn.Parameter(torch.randn(1))\n    def forward(self, x):\n        return x + self.bias")
        reads = "//@ launch k<<<1, 32>>>(x, bias, output)\n__global__ void k(const float* x, const float* bias, float* output) {{ output[threadIdx.x] = x[threadIdx.x] + {0}; }}\n"
        self.assertIn("PREDICTED", self.verify(task, reads.format("bias[0]")).out)
        import torch
        torch.manual_seed(42)
        weight = torch.randn(1).item()
        self.assertIn("WRONG_RESULT", self.verify(task, reads.format(f"{weight:.9g}f"), code=6).out)

    def test_a_kept_state_starts_afresh_in_every_trial(self):
        task = self.module("class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.hidden = torch.zeros(4, 8)\n"
                           "    def forward(self, x):\n        self.hidden = self.hidden / 2 + 3 * x\n        return self.hidden")
        answer = "//@ launch k<<<1, 32>>>(x, hidden, output)\n__global__ void k(const float* x, const float* hidden, float* output) { output[threadIdx.x] = 3 * x[threadIdx.x] + hidden[threadIdx.x] / 2; }\n"
        result = self.verify(task, answer)
        self.assertIn("PREDICTED", result.out)
        self.assertIn("KEEPS_STATE", result.err)

    def test_a_task_that_does_not_agree_with_itself_is_refused(self):
        result = self.verify(HERE / "level2" / "5_Linear_dropout.py", ANSWER, code=10)
        self.assertIn("TASK_UNSTABLE", result.err)

    def test_what_is_too_large_for_the_simulator_says_what_to_set(self):
        result = self.verify(SWISH, ANSWER, "--set", "batch_size=100000", code=10)
        self.assertIn("--set", result.err)
        self.assertIn("batch_size=100000", result.err)

    def test_inputs_of_4_gib_are_refused_before_memory_is_taken(self):
        task = self.module("rows = 1 << 20\n" + FORWARD.format("x", "return x"), "return [torch.rand(rows, 1024)]")
        result = self.verify(task, ANSWER, code=10, prefix=("prlimit", f"--as={3 << 30}"))
        self.assertIn("4096 MiB", result.err)
        self.assertIn("rows=1048576", result.err)

    def test_outputs_whose_size_depends_on_values_are_refused(self):
        path = self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x[x > 0.5]\n", "return [torch.rand(4, 8)]")
        self.assertIn("outputs have sizes that do not depend on values", self.verify(path, ANSWER, code=10).err)

    def test_a_python_without_pytorch_is_named(self):
        self.environment["CUDAL1_PYTHON"] = str(self.write("python", "#!/bin/sh\nexit 1\n"))
        (self.work / "python").chmod(0o755)
        result = self.verify(SWISH, ANSWER, code=2)
        self.assertIn("--python", result.err)


class PromptTest(TaskTest):
    def test_the_prompt_shows_the_module_and_its_interface(self):
        result = self.run_cli("prompt", str(SWISH), "--device", "sim")
        self.assertIn("return x * torch.sigmoid(x)", result.out)
        self.assertIn("//@ input   x: float32[16, 256]", result.out)


if __name__ == "__main__":
    unittest.main()
