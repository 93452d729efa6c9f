# SPDX-License-Identifier: Apache-2.0
"""Whether a task can tell a fast answer from a wrong one; judged on the reference alone, before any model is asked."""

import copy

import torch

from comparison import CHUNK, all_finite, mean_of
from lent_cases import is_large
from task_module import WEIGHT_SEED, tensors_in

SHARE = 0.7       # of the output within tolerance of one value: constant
REACTION = 0.05   # of the output that must change with the inputs

# Of outcome::TaskVerdict; the other kinds are degenerate.
VERDICTS = {"not finite": "TASK_BROKEN", "unstable": "TASK_UNSTABLE", "stateful": "KEEPS_STATE", "range identity": "INPUT_RANGE",
            "ill-conditioned": "TASK_ILL_CONDITIONED"}


def close(left, right, tolerance):
    """The share of elements that KernelBench's comparison takes for equal; a single value on the left stands for all."""
    if right.numel() == 0:
        return 1.0
    same, left, right = 0, left.reshape(-1), right.reshape(-1)
    for begin in range(0, right.numel(), CHUNK):  # a task may fill half of a GPU
        a, b = left if left.numel() == 1 else left[begin:begin + CHUNK], right[begin:begin + CHUNK]
        if right.is_floating_point():
            a, b = a.double(), b.double()
            same += ((a - b).abs() <= tolerance + tolerance * b.abs()).sum()
        else:
            same += (a == b).sum()
    return int(same) / right.numel()


def all_close(left, right, tolerance):
    return all(a.shape == b.shape and close(a, b, tolerance) == 1.0 for a, b in zip(left, right))


def share_close(left, right, tolerance):
    total = sum(each.numel() for each in right) or 1
    return sum(close(a, b, tolerance) * b.numel() for a, b in zip(left, right)) / total


def is_input(outputs, arguments, tolerance):
    inputs = list(tensors_in(arguments))
    return all(any(each.numel() == out.numel() and each.dtype == out.dtype and each.is_floating_point()
                   and close(each.reshape(-1), out.reshape(-1), tolerance) == 1.0 for each in inputs) for out in outputs)


def examine(cases, tolerance):
    """What is wrong with the task, most severe first: {"kind", "verdict", "reason"} each. Empty: sound."""
    task, found = cases.task, []

    def add(kind, reason):
        found.append({"kind": kind, "verdict": VERDICTS.get(kind, "TASK_DEGENERATE"), "reason": reason})

    large = is_large(cases)
    model = cases.model({})
    arguments = task.make_inputs(WEIGHT_SEED)
    first = cases.reference(model, arguments, 0)
    floating = any(each.is_floating_point() for each in first)
    if not all_finite(first):
        add("not finite", "the reference's own output holds NaN or an infinity")
        return found
    if not all_close(cases.reference(model, arguments, 1), first, tolerance):
        add("unstable", "the reference draws random numbers: it does not agree with itself under another seed")
    again = copy.deepcopy(model)
    if not all_close(task.forward(again, arguments), first, tolerance) or not all_close(task.forward(again, arguments), first, tolerance):
        add("stateful", "a second call of the same module gives another output; every expected output is taken from a fresh copy")
    if floating:
        zero = share_close([torch.zeros((), dtype=each.dtype, device=each.device) for each in first], first, tolerance)
        mean = share_close([mean_of(each) if each.is_floating_point() else each for each in first], first, tolerance)
        single = all(each.numel() < 2 for each in first)
        if zero >= SHARE:
            add("zero", f"{zero:.0%} of the output is 0 within {tolerance:g}")
        elif mean >= SHARE and not single:
            add("constant", f"{mean:.0%} of the output is its mean within {tolerance:g}")
    if list(tensors_in(arguments)):
        copies = is_input(first, arguments, tolerance)
        if large:
            arguments = None  # they may fill a part of the GPU that is needed
        other = cases.reference(model, task.make_inputs(WEIGHT_SEED + 1))
        same = share_close(other, first, tolerance) if all(a.shape == b.shape for a, b in zip(other, first)) else 0
        del other
        if same > 1 - REACTION:
            reacts = False
            if task.state:
                weights = cases.model({"weights": WEIGHT_SEED + 1})
                other = cases.reference(weights, arguments or task.make_inputs(WEIGHT_SEED))
                reacts = share_close(other, first, tolerance) <= 1 - REACTION
            kind = "weights only" if reacts else "input-independent"
            add(kind, f"{same:.0%} of the output stays within {tolerance:g} when the inputs change: an earlier output passes")
        if copies:
            stressed = cases.arguments({"seed": WEIGHT_SEED, "pattern": "normal"})
            elsewhere = is_input(cases.reference(model, stressed), stressed, tolerance)
            if elsewhere:
                add("identity", "an input passes as the output")
            else:
                add("range identity", "an input passes as the output in the declared range, though not on other values")
    if floating and not large:
        truth, sigma = cases.sound(model, arguments, 4, "fp32")
        moved = [right + off if off.numel() else right for right, off in zip(truth, sigma)]
        steady = share_close(moved, truth, tolerance)
        if steady < 1 - REACTION:
            add("ill-conditioned", f"rounding moves {1 - steady:.0%} of the output by more than {tolerance:g}")
    return found
