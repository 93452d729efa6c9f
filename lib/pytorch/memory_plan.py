# SPDX-License-Identifier: Apache-2.0
"""What a task takes of a GPU's memory and arithmetic, known before any of it is taken: inputs, weights, outputs and what PyTorch makes on
the way, on outlines without values."""

import weakref

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from task_module import WEIGHT_SEED, TaskModule, tensors_in

MADE = {"rand", "randn", "randint", "randperm", "zeros", "ones", "empty", "full", "arange", "linspace", "logspace", "eye", "tensor",
        "scalar_tensor", "empty_strided", "tril_indices", "triu_indices", "normal", "hann_window"}
CONTEXTS = 2 << 30      # bytes: two processes' CUDA contexts and libraries, and what these keep for work
STEPS = 24              # halvings of one constant that are tried
MARKED_LESS = 0.9       # of the memory: a constant that saves less is none that makes the task smaller


class OnOutlines(TorchFunctionMode):
    """Tensors come without values, wherever they are asked for."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if getattr(function, "__name__", "") in MADE:
            kwargs["device"] = "meta"
            kwargs.pop("pin_memory", None)
        return function(*args, **kwargs)


def multiplied(function, args, result):
    """Multiplications and additions of a product; 0 of everything else."""
    name = function.overloadpacket.__name__
    if name == "convolution":
        return 2 * (args[0] if args[6] else result).numel() * args[1][0].numel()
    if name in ("mm", "bmm", "addmm", "baddbmm"):
        return 2 * result.numel() * args[1 if name in ("addmm", "baddbmm") else 0].shape[-1]
    if name.startswith("_scaled_dot_product"):
        return 4 * args[0].numel() * args[1].shape[-2]
    return 0


class Living(TorchDispatchMode):
    """Bytes of the tensors that live at once, at most, and of all; and the operations of all products."""

    def __init__(self):
        super().__init__()
        self.now = self.most = self.made = self.operations = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.operations += multiplied(function, args, result)
        made = result if isinstance(result, (list, tuple)) else [result]
        for each, kind in zip(made, [entry.alias_info for entry in function._schema.returns]):
            for tensor in tensors_in(each) if kind is None else ():   # another name for the same memory is none of its own
                count = tensor.numel() * tensor.element_size()
                self.now += count
                self.made += count
                self.most = max(self.most, self.now)
                weakref.finalize(tensor, self.ended, count)
        return result

    def ended(self, count):
        self.now -= count


class Outline(TaskModule):
    def build(self, seed):
        with OnOutlines():
            return super().build(seed)

    def make_inputs(self, seed, *others, **named):
        with OnOutlines():
            return super().make_inputs(seed, *others, **named)


def bytes_in(tensors):
    return sum(each.numel() * each.element_size() for each in tensors)


class Weight:
    """Of one task: `set` is what a variant's inputs, weights and outputs take, `beside` the most that PyTorch takes
    meanwhile, to make the inputs or to run the module. `operations` are those of a run's products, and `made`
    the bytes of all that a run makes."""

    def __init__(self, set=0, beside=0, operations=0, made=0):
        self.set, self.beside, self.operations, self.made = set, beside, operations, made

    def numbers(self):
        return {"set": self.set, "beside": self.beside, "operations": self.operations, "made": self.made}

    def bytes(self):
        return self.set + self.beside + CONTEXTS


class Plan(Weight):
    def __init__(self, path, source, overrides):
        task = Outline(path, source, overrides, "meta")
        self.constants = task.constants
        with Living() as drawn:
            arguments = task.make_inputs(WEIGHT_SEED)
        model = task.build(WEIGHT_SEED)
        with Living() as run:
            outputs = task.forward(model, arguments)
        weights = bytes_in(each["tensor"] for each in task.state)
        super().__init__(bytes_in(each["tensor"] for each in task.inputs) + weights + bytes_in(outputs), weights + max(drawn.most, run.most), run.operations,
                         run.made)


def plan_of(path, source, overrides):
    """None where a module does not run without values."""
    try:
        return Plan(path, source, overrides)
    except Exception:  # whatever the user's code does with a tensor that has no values
        return None


def fitting(path, source, overrides, limit):
    """One constant and its largest value, halved from what it is, with which a task fits; None: there is none."""
    plan = plan_of(path, source, overrides)
    found = []
    for name, value in (plan.constants if plan else {}).items():
        smaller, before = value, plan
        for step in range(1, STEPS):
            smaller //= 2
            now = plan_of(path, source, dict(overrides, **{name: smaller})) if smaller > 0 else None
            if now is None or now.bytes() > MARKED_LESS * before.bytes() and now.bytes() > limit:
                break
            before = now
            if now.bytes() <= limit:
                found.append((step, "batch" not in name.lower(), name, smaller))
                break
    return min(found)[2:] if found else None


def too_large(path, source, overrides, limit, plan=None):
    """One line: why a task does not fit into `limit` bytes, and what would; empty when it fits, or when nobody knows."""
    plan = plan or plan_of(path, source, overrides)
    if plan is None or plan.bytes() <= limit:
        return ""
    smaller = fitting(path, source, overrides, limit)
    advice = f"--set {smaller[0]}={smaller[1]} fits" if smaller else "no constant of it makes it fit"
    return (f"{path}: its inputs, weights and outputs take {plan.set / 2**30:.1f} GiB and PyTorch {plan.beside / 2**30:.1f} GiB beside them, "
            f"more than the GPU's {limit / 2**30:.0f} GiB; {advice}")
