#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often an answer whose convolutions have operands in TF32 is refused, on a CPU: where results are chosen among numbers that are nearly equal, by a
softmax after a convolution, sound answers differ from the truth in few places, and there by much.

    near_choices.py TASK RULE [--set NAME=VALUE] [--patterns wide,stray,mixed,normal] [--trials 6]

TASK is a PyTorch module with a transposed convolution in three dimensions, such as level2/89 of KernelBench at its present sizes with --set batch_size=4;
RULE is build/gate/tests/kernelbench/rule_of_right. Inputs and weights are drawn secretly. Needs PyTorch."""

import argparse
import os
import pathlib
import secrets
import sys
from unittest import mock

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent / "kernelbench"), str(here.parents[1] / "lib" / "pytorch")]


def rounded_to_tf32(values, torch):
    return ((values.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32).where(torch.isfinite(values), values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("rule")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--patterns", default="wide,stray,mixed,normal")
    parser.add_argument("--trials", type=int, default=6)
    options = parser.parse_args()
    os.environ["CUDAL1_RULE"] = options.rule
    import torch
    import comparison
    from lent_cases import LentCases
    from rule import compared, numbers
    from task_cases import Cases
    from task_module import WEIGHT_SEED, TaskModule, outline

    comparison.rule.update(numbers())
    task = TaskModule(options.task, pathlib.Path(options.task).read_text(), {name: int(value) for name, value in (each.split("=") for each in options.set)}, "cpu")
    cases = Cases(task)
    task.outputs = [{"name": "output", "tensor": outline(task.forward(cases.model({}), task.make_inputs(WEIGHT_SEED))[0])}]
    lent = LentCases(cases)
    lent.offer()
    usual = torch.nn.functional.conv_transpose3d
    for pattern in options.patterns.split(","):
        refused = 0
        for number in range(options.trials):
            trial = {"pattern": pattern, "seed": secrets.randbits(40), "turn": number % 2, "weights": secrets.randbits(40)}
            lent.make(0, trial)
            with mock.patch.object(torch.nn.functional, "conv_transpose3d", lambda x, weight, *more: usual(rounded_to_tf32(x, torch), rounded_to_tf32(weight, torch), *more)):
                lent.sets[0][-1].copy_(task.forward(cases.model(trial), cases.arguments(trial))[0])
            refused += not compared(lent, 0, trial)[1]
            lent.expected = {}
        print(f"{pattern}: {refused} of {options.trials} refused", flush=True)


if __name__ == "__main__":
    main()
