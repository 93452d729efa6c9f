# SPDX-License-Identifier: Apache-2.0
"""KernelBench's rules for an answer, written anew: its static checker, and its comparison of ModelNew with Model.
`python3 kernelbench_rules.py TASK ANSWER` judges one answer on a GPU, and once more without TF32 in the reference's
convolutions where it is wrong with it."""

import json
import re
import sys

import torch

FORBIDDEN = (r"\btry\s*:", r"\bexcept\s*:", r"\bexcept\s+\w+", r"\bpass\b", r"\bthreading\b", r"\bmultiprocessing\b",
             r"\bconcurrent\.futures\b", r"cuda\.Event\.\w+\s*=", r"time\.\w+\s*=[^=]",
             r"_make_subclass|__torch_dispatch__|__torch_function__")


def static_check(code):
    """The checker's errors for a CUDA answer: comments are cut from # and // to the end of the line, docstrings are not."""
    code = "\n".join(re.split(r"#|//", line)[0] for line in code.split("\n"))
    errors = [pattern for pattern in FORBIDDEN if re.search(pattern, code)]
    if "__global__" not in code:
        errors.append("no __global__")
    if "load_inline" not in code and "cpp_extension" not in code:
        errors.append("no load_inline")
    if not re.search(r"\b(threadIdx|blockIdx|blockDim|gridDim)\.", code):
        errors.append("no thread index")
    return errors


def cast(value, device):
    """Every tensor goes to the run's precision, masks and indices included."""
    return value.to(device=device, dtype=torch.float32) if isinstance(value, torch.Tensor) else value


def build(model, init, device):
    torch.manual_seed(42)
    return model(*init).to(device=device, dtype=torch.float32)


def tensors(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def judge(task_source, answer_source, device="cpu", trials=5, tolerance=1e-4):
    """What becomes of an answer: {"correct", "reason"}; None as reason where it is right."""
    context = {"__name__": "kernelbench_problem"}
    exec(compile(task_source, "task", "exec"), context)
    get_inputs, get_init_inputs, reference = context["get_inputs"], context["get_init_inputs"], context["Model"]
    torch.manual_seed(42)
    init = [cast(each, device) for each in get_init_inputs()]
    with torch.no_grad():
        model = build(reference, init, device)
        exec(compile(answer_source, "answer", "exec"), context)  # in the same namespace, as there
        answer = build(context["ModelNew"], init, device)
        torch.manual_seed(42)
        for seed in [torch.randint(0, 2**32 - 1, (1,)).item() for _ in range(trials)]:
            torch.manual_seed(seed)
            inputs = [cast(each, device) for each in get_inputs()]
            try:
                expected = tensors(model(*inputs))
            except Exception as error:  # as with integer targets, which it casts too
                return {"correct": None, "reason": f"the reference does not run there: {error}"}
            given = tensors(answer(*inputs))
            for wanted, got in zip(expected, given):
                if wanted.shape != got.shape:
                    return {"correct": False, "reason": f"shape {list(got.shape)}, not {list(wanted.shape)}"}
                if not torch.allclose(wanted.double(), got.double(), atol=tolerance, rtol=tolerance):
                    return {"correct": False, "reason": f"differs by {(wanted.double() - got.double()).abs().max().item():.3g}"}
    return {"correct": True, "reason": None}


if __name__ == "__main__":
    task, answer = (open(path).read() for path in sys.argv[1:3])
    judged = {"static": static_check(answer), **judge(task, answer, "cuda")}
    if judged["correct"] is False:
        torch.backends.cudnn.allow_tf32 = False
        judged |= {"with_tf32": judged["reason"], **judge(task, answer, "cuda")}
    print(json.dumps(judged))
