# SPDX-License-Identifier: Apache-2.0
"""What is right, said by a program or a Python function of the user's own."""
import unittest

from fixture import CliTest

SIM = ("--device", "sim", "--quick")
TASK = """\
//@ size    N = 512
//@ check   N = 100
//@ checker "rule.py"
//@ input   x: int32[N] ~ randint(-8, 8)
//@ inout   count: int32[1] ~ zeros
//@ output  y: int32[N]
//@ launch  clear<<<ceil_div(N, 128), 128>>>(y, N)
//@ launch  compact<<<ceil_div(N, 128), 128>>>(x, y, count, N)
__global__ void clear(int* y, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = 0;
}
__global__ void compact(const int* x, int* y, int* count, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && x[i] > 0) y[atomicAdd(count, 1)] = x[i];
}
"""
BACKWARDS = TASK.replace("int i = blockIdx.x * 128 + threadIdx.x;\n  if (i < n && x", "int i = n - 1 - (blockIdx.x * 128 + threadIdx.x);\n  if (i >= 0 && x")
RULE = """\
def check(inputs, outputs, sizes):
    wanted = sorted(value for value in inputs["x"] if value > 0)
    count = outputs["count"][0]
    assert list(inputs["count"]) == [0]
    if count != len(wanted):
        return f"{count} elements of {sizes['N']} were kept, expected {len(wanted)}"
    return sorted(outputs["y"][:count]) == wanted
"""


class Checkers(CliTest):
    def setUp(self):
        super().setUp()
        self.write("tasks/task.cu", TASK)
        self.write("tasks/rule.py", RULE)
        self.write("backwards.cu", BACKWARDS)
        self.write("greedy.cu", TASK.replace("x[i] > 0", "x[i] >= 0"))

    def test_a_python_function_says_what_is_right(self):
        self.assertNotEqual(TASK, BACKWARDS)
        right = self.run_cli("verify", "tasks/task.cu", "backwards.cu", *SIM)  # another order: wrong for a comparison
        self.says(right, "right in")
        self.assertNotIn("NO_ORACLE", right.out + right.err)
        self.says(self.run_cli("verify", "tasks/task.cu", "greedy.cu", *SIM, code=6), "WRONG_RESULT", "by rule.py: ", "were kept, expected")

    def test_without_it_another_order_is_wrong(self):
        self.write("tasks/task.cu", TASK.replace('//@ checker "rule.py"\n', ""))
        self.says(self.run_cli("verify", "tasks/task.cu", "backwards.cu", *SIM, code=6), "WRONG_RESULT")

    def test_a_program_says_what_is_right(self):
        self.write("tasks/task.cu", TASK.replace("rule.py", "rule"))
        self.write("tasks/rule", '#!/bin/sh\nls "$1" | tr "\\n" " " > seen.txt\n').chmod(0o755)
        self.run_cli("verify", "tasks/task.cu", "greedy.cu", *SIM)  # it accepts everything
        self.assertEqual((self.work / "seen.txt").read_text().split(), ["count.before.npy", "count.npy", "sizes.json", "x.npy", "y.npy"])

    def test_the_tasks_own_kernel_is_asked_about_too(self):
        self.write("tasks/rule.py", "def check(inputs, outputs, sizes):\n    return 'nothing pleases me'\n")
        self.says(self.run_cli("verify", "tasks/task.cu", "backwards.cu", *SIM, code=10), "the task's own kernel is not right", "by rule.py: nothing pleases me")

    def test_a_checker_that_cannot_work_is_named(self):
        self.write("tasks/rule.py", "")
        self.says(self.run_cli("verify", "tasks/task.cu", "backwards.cu", *SIM, code=10), "rule.py has no function check(inputs, outputs, sizes)")
        (self.work / "tasks/rule.py").unlink()
        self.refuses("verify", "tasks/task.cu", "backwards.cu", *SIM, code=11, says=["task.cu:3: there is no checker"])
        self.write("tasks/task.cu", TASK.replace('"rule.py"', "rule.py"))
        self.refuses("verify", "tasks/task.cu", "backwards.cu", *SIM, code=10, says=["expected a quoted path after `checker`"])
        self.write("tasks/task.cu", TASK.replace("//@ size", "//@ torch y = x\n//@ size"))
        self.refuses("verify", "tasks/task.cu", "backwards.cu", *SIM, code=10, says=["a torch line or a checker, not both"])


if __name__ == "__main__":
    unittest.main()
