# SPDX-License-Identifier: Apache-2.0
"""What is right: inputs and expected outputs of a trial, laid into shared memory for the device worker."""

import contextlib
import copy
import mmap
import os

import torch

from comparison import all_finite
from task_module import DTYPES, WEIGHT_SEED, Refusal, mapped, tensors_in

ROUNDING = 2.0 ** -24
SHARED_PARAMETERS = 64 << 20   # bytes


@contextlib.contextmanager
def exact(dtype):
    """Default flags but for TF32, which an oracle must not use."""
    before = torch.get_default_dtype(), torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    torch.set_default_dtype(dtype)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_default_dtype(before[0])
        torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before[1:]


def bytes_of(tensor):
    return tensor.numel() * tensor.element_size()


def fresh(model):
    """A copy, because a call may change buffers and attributes. Large parameters are shared: no forward writes those."""
    parameters = list(model.parameters())
    large = sum(bytes_of(each) for each in parameters) > SHARED_PARAMETERS
    return copy.deepcopy(model, {id(each): each for each in parameters} if large else {})


def change_state(model, change):
    """Every floating tensor that the model holds, plain attributes included, replaced by change(tensor)."""
    with torch.no_grad():
        for part in model.modules():
            for tensors in (part._parameters, part._buffers):
                for name, tensor in tensors.items():
                    if tensor is not None and tensor.is_floating_point():
                        value = change(tensor.detach())
                        tensors[name] = torch.nn.Parameter(value, requires_grad=False) if tensors is part._parameters else value
            for name, value in list(vars(part).items()):
                if not name.startswith("_") and any(True for _ in tensors_in(value)):
                    vars(part)[name] = mapped(value, lambda t: change(t.detach()) if t.is_floating_point() else t)
            if hasattr(part, "flatten_parameters") and hasattr(part, "_flat_weights_names"):
                part._flat_weights = [getattr(part, name) for name in part._flat_weights_names]
    return model


def to_double(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


class Perturbation:
    """Each value moved by one rounding, up or down at random: any implementation may do as much."""

    def __init__(self, device):
        self.generator = torch.Generator(device=device)
        self.generator.manual_seed(0x9E77)

    def __call__(self, tensor):
        if not tensor.is_floating_point():
            return tensor
        drawn = torch.randint(0, 2, tensor.shape, generator=self.generator, device=self.generator.device, dtype=tensor.dtype)
        return tensor * (1 + ROUNDING * (drawn.to(tensor.device) * 2 - 1))   # what a module keeps may lie elsewhere


class Cases:
    """The trials of one task."""

    def __init__(self, task):
        self.task = task
        self.precision = ""  # how the last truth was taken, one phrase
        self.built = {}      # the models of the last two seeds for weights

    def arguments(self, trial):
        return self.task.make_inputs(trial["seed"], trial["pattern"])

    def model(self, trial):
        seed = trial.get("weights", WEIGHT_SEED)
        if seed not in self.built:
            for old in list(self.built)[:-1]:
                del self.built[old]
            self.built[seed] = self.task.build(seed)
        return self.built[seed]

    def reference(self, model, arguments, seed=0):
        """PyTorch's own answer at its default flags."""
        return self.task.forward(fresh(model), arguments, seed)

    def truth(self, model, arguments, change=None):
        """The outputs in double precision, or in float32 without TF32 where a module insists on its types or memory ends."""
        change = change or (lambda tensor: tensor)
        try:
            with exact(torch.float64):
                wide = change_state(fresh(model), lambda t: change(to_double(t)))
                outputs = self.task.forward(wide, mapped(arguments, lambda t: change(to_double(t))))
            self.precision = "PyTorch in float64"
            return [to_double(each) for each in outputs]
        except Refusal as why:
            self.precision = f"PyTorch in float32 without TF32 (float64 does not run: {why})"
        return [to_double(each) for each in self.plain(model, arguments, change)]

    def plain(self, model, arguments, change=lambda tensor: tensor):
        """The outputs in float32 without TF32."""
        with exact(torch.float32):
            return self.task.forward(change_state(fresh(model), change), mapped(arguments, change))

    def put(self, trial):
        """Computes a trial; the reply names the memory. Its layout: the interface's inputs, then for each output truth,
        reference and perturbed truth as doubles."""
        task = self.task
        model, arguments = self.model(trial), self.arguments(trial)
        inputs = task.flat_inputs(model, arguments)
        reference = self.reference(model, arguments)
        truth = self.truth(model, arguments)
        finite = all_finite(truth + reference)
        moved = self.truth(model, arguments, Perturbation(task.device))
        blocks = [each.contiguous() for each in inputs]
        for exact_one, own, other in zip(truth, reference, moved):
            blocks += [exact_one.double().contiguous(), own.double().contiguous(), other.double().contiguous()]
        return {"memory": share(blocks), "finite": finite, "precision": self.precision}


def share(tensors):
    """One piece of memory that another process maps by its path; it lives as long as a process has it open."""
    total = sum(each.numel() * each.element_size() for each in tensors)
    descriptor = os.memfd_create("cudal1")
    os.ftruncate(descriptor, max(total, 1))
    memory = mmap.mmap(descriptor, max(total, 1))
    at = 0
    for each in tensors:
        count = each.numel()
        if count:
            torch.frombuffer(memory, dtype=each.dtype, count=count, offset=at).copy_(each.reshape(-1))
        at += count * each.element_size()
    del memory  # unmapped once no tensor looks at it
    return {"path": f"/proc/{os.getpid()}/fd/{descriptor}", "bytes": total, "descriptor": descriptor}


def shape_of(tensor):
    return {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape)}
