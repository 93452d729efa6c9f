# SPDX-License-Identifier: Apache-2.0
"""One module as a task: its interface, its oracle, its gate, and what is said of broken ones."""

import re
import unittest

from tasks import HERE, TaskTest

SWISH = HERE / "level1" / "4_Swish.py"
ANSWER = """\
//@ launch swish<<<ceil_div(4096, 256), 256>>>(x, output)
__global__ void swish(const float* x, float* output) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < 4096) output[i] = x[i] / (1 + expf(-x[i]));
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

    def test_a_constant_can_be_set(self):
        self.assertIn("input x: float32[3, 256]", self.directives(SWISH, "--set", "batch_size=3"))

    def test_an_unknown_constant_is_named_with_those_there_are(self):
        result = self.run_cli("init", str(SWISH), "--set", "batch=3", code=6)
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
                result = self.run_cli("init", str(self.module(model, inputs, init)), code=6)
                self.assertIn(wanted, result.err)


class VerifyTest(TaskTest):
    def verify(self, task, answer, *arguments, **keywords):
        return self.run_cli("verify", str(task), str(self.write("answer.cu", answer)), "--device", "sim", *arguments, **keywords)

    def test_a_right_answer_is_right_for_both_rules(self):
        result = self.verify(SWISH, ANSWER)
        self.assertIn("PREDICTED_EQUIVALENT", result.out)
        self.assertRegex(result.out, "KernelBench.*accepts")

    def test_an_answer_that_holds_in_the_declared_range_only_is_wrong(self):
        relu = HERE / "level1" / "5_ReLU.py"
        copy = ANSWER.replace("x[i] / (1 + expf(-x[i]))", "x[i]")
        result = self.verify(relu, copy, code=6)
        self.assertIn("WRONG_RESULT", result.out)
        self.assertIn("normal inputs", result.out)
        self.assertIn("degenerate (range identity)", result.err)

    def test_an_error_that_kernelbench_lets_pass_is_wrong_here(self):
        result = self.verify(SWISH, ANSWER.replace("(1 + expf", "(1.00005f + expf"), code=6)
        self.assertIn("WRONG_RESULT", result.out)
        self.assertRegex(result.out, "KernelBench.*accepts it at 1e-4")

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
                           "    def forward(self, x):\n        self.hidden = self.hidden + x\n        return self.hidden")
        answer = "//@ launch k<<<1, 32>>>(x, hidden, output)\n__global__ void k(const float* x, const float* hidden, float* output) { output[threadIdx.x] = x[threadIdx.x] + hidden[threadIdx.x]; }\n"
        result = self.verify(task, answer)
        self.assertIn("PREDICTED", result.out)
        self.assertIn("degenerate (stateful)", result.err)

    def test_a_task_that_does_not_agree_with_itself_is_refused(self):
        result = self.verify(HERE / "level2" / "5_Linear_dropout.py", ANSWER, code=6)
        self.assertIn("TASK_UNSTABLE", result.err)

    def test_what_is_too_large_for_the_simulator_says_what_to_set(self):
        result = self.verify(SWISH, ANSWER, "--set", "batch_size=100000", code=6)
        self.assertIn("--set", result.err)
        self.assertIn("batch_size=100000", result.err)

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
