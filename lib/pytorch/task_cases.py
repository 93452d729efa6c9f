# SPDX-License-Identifier: Apache-2.0
"""What is right: inputs and expected outputs of a trial, laid into shared memory for the device worker."""

import contextlib
import copy
import math
import mmap
import os
import secrets
import time
import traceback

import torch

from comparison import all_finite, all_true, pieces
from input_patterns import dim_index, enlarged, meetings, met_indices, unsettle, zeroed
from known_products import KnownProducts
from precision import flags
from rounding import LARGEST_STRETCH, RMS, STRETCH, UNIT, Noting, Rounding, sigma_of
from task_module import DTYPES, MODULES_OWN, WEIGHT_SEED, Refusal, mapped, of_memory, tensors_in

SHARED_PARAMETERS = 64 << 20   # bytes
# Models that are kept, and bytes of those beside the last two.
MOST_BUILT, BUILT_BYTES = 8, 1 << 30
RUNS_SECONDS = {"cpu": 0.6, "cuda": 0.1}   # after which no further run of a trial begins
MOST_RUNS, LEAST_RUNS = 16, 4
MANY_RUNS, LEAST_MANY, MANY_SECONDS = 64, 32, 3.0   # before something is refused by what few runs say
MOST_MEETINGS = 16              # pairs of tensors that are tried for large elements and zeros to meet in: a count, so that equal trials have equal inputs


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


def outlined(model):
    """The model on outlines. A module moves its parameters and buffers alone, not tensors that are plain attributes."""
    for part in model.to("meta").modules():
        for name, value in list(vars(part).items()):
            if name not in MODULES_OWN and any(True for _ in tensors_in(value)):
                vars(part)[name] = mapped(value, lambda each: each.to("meta") if each.numel() > 1 else each)   # one may be read as a number
    return model


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
                if name not in MODULES_OWN and any(True for _ in tensors_in(value)):
                    vars(part)[name] = mapped(value, lambda t: change(t.detach()) if t.is_floating_point() else t)
            if hasattr(part, "flatten_parameters") and hasattr(part, "_flat_weights_names"):
                part._flat_weights = [getattr(part, name) for name in part._flat_weights_names]
    return model


def to_double(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def says_something(truth, reference):
    """No NaN, and infinities only where PyTorch's own output has the same."""
    def same(expected, got):
        expected = expected.to(got.dtype)   # where it may overflow
        return ((torch.isfinite(expected) & torch.isfinite(got)) | (expected == got)).all()   # NaN equals nothing

    return all_true(same(*each) for exact, own in zip(truth, reference) if own.is_floating_point() for each in zip(pieces(exact), pieces(own)))


class Cases:
    """The trials of one task."""

    sharers = 1        # processes like this one on the GPU
    share = 0          # bytes of its memory that this one may take; 0: all
    beside = 0         # bytes that a run takes besides inputs, weights and outputs, at most; 0: not known
    operations = 0     # of a run's products; 0: not known
    may_free = False   # what is held for later makes room when memory ends

    def __init__(self, task):
        self.task = task
        self.precision = ""  # how the last truth was taken, one phrase
        self.runs = 0        # that the last sigma was taken from
        self.built = {} if task.first is None else {(WEIGHT_SEED, False): task.first}   # models by their seeds for weights and whether these are secret, the last ones
        task.first = None
        self.lights = {}     # of spotlights, by trial
        self.refused = {}    # whether the task does not run on the inputs of a pattern, by trial
        self.meetings = {}   # (of the large elements, its axis, of the zeros, its axis), or None, by trial: never another one while the task is open
        self.met = (None, {})   # of the last such trial: its key, and its changed tensors by place
        # Whether secret weights are moved from what the constructor makes them; not where an answer constructs its own.
        self.unsettled = True

    def arguments(self, trial):
        """The inputs of a trial: as declared where the task itself does not run on those of the pattern."""
        if trial["pattern"] != "meets_zero":
            self.met = (None, {})
        key = trial["seed"], trial["pattern"], trial.get("turn", 0), trial.get("weights"), self.unsettled
        if not self.refused.get(key, False):
            try:
                arguments = self.patterned(trial)
            except Refusal as error:   # get_inputs() may compute with what it draws
                if trial["pattern"] == "declared" or of_memory(error):
                    raise
                self.refused[key] = True
            else:
                if key not in self.refused:
                    self.refused[key] = trial["pattern"] != "declared" and not self.takes(trial, arguments)
                if not self.refused[key]:
                    return arguments
        return self.task.make_inputs(trial["seed"])

    def patterned(self, trial):
        pattern, seed, turn = trial["pattern"], trial["seed"], trial.get("turn", 0)
        light = self.light(trial) if pattern == "spotlight" else None
        arguments = self.task.make_inputs(seed, pattern, turn, light, trial.get("integers"), trial.get("numbers", 1.0))
        return self.replaced(arguments, self.meeting(trial), 0) if pattern == "meets_zero" else arguments

    @staticmethod
    def replaced(arguments, changed, first):
        """The tensors among arguments, counted from `first`, replaced by those that are changed."""
        places = {id(tensor): number for number, tensor in enumerate(tensors_in(arguments), first)}
        return mapped(arguments, lambda tensor: changed.get(places[id(tensor)], tensor))

    def meeting(self, trial):
        """Tensors of a trial in which a few elements are very large and meet nothing but zeros, by their place among arguments and weights:
        the outputs do not depend on how large they are. Empty where no two tensors are found soon that allow it."""
        key = trial["seed"], trial.get("turn", 0), trial.get("weights"), self.unsettled
        if self.met[0] != key:
            self.met = None, {}
            if key not in self.meetings:
                self.meetings[key] = self.found_meeting(trial)
            pair = self.meetings[key]   # if now memory ends, there must be room: these inputs may have been judged
            self.met = key, {} if pair is None else self.met_tensors(self.tensors_of(trial)[0], pair, self.large_size(trial), trial["seed"])
        return self.met[1]

    @staticmethod
    def large_size(trial):
        return 2.0 ** (24 if trial.get("turn", 0) % 2 else 20)

    @staticmethod
    def met_tensors(tensors, pair, size, seed):
        large, a, zero, b = pair
        indices = met_indices(tensors[large].shape[a], seed)
        return {large: enlarged(tensors[large], a, indices, size, seed), zero: zeroed(tensors[zero], b, indices)}

    def tensors_of(self, trial):
        """Those of the arguments, and then the weights where these are secret; which of them may be changed; model and arguments."""
        model, arguments = self.built_model(trial), self.task.make_inputs(trial["seed"])
        inputs = list(tensors_in(arguments))
        state = [tensor for _, tensor in self.task.state_tensors(model)] if trial.get("weights") is not None else []
        usable = [each.dtype in (torch.float32, torch.float64, torch.bfloat16) for each in inputs] + [isinstance(each, torch.nn.Parameter) for each in state]
        return inputs + [each.detach() for each in state], usable, model, arguments

    def found_meeting(self, trial):
        """None as well where the memory to try them ends."""
        try:
            return self.tried_meetings(trial)
        except (Refusal, RuntimeError) as error:
            if not self.lacks_memory(error):
                raise
            traceback.clear_frames(error.__traceback__)   # they hold tensors
            return None

    def lacks_memory(self, error):
        """True where the task takes more memory than there is. Beside others it may be theirs, which must decide nothing."""
        return of_memory(error) and self.sharers == 1 and not self.may_free

    def tried_meetings(self, trial):
        tensors, usable, model, arguments = self.tensors_of(trial)
        inputs = sum(1 for _ in tensors_in(arguments))
        pairs = [each for each in meetings(tensors) if usable[each[0]] and usable[each[2]] and min(each[0], each[2]) < inputs]
        for pair in (pairs[::-1] if trial.get("turn", 0) % 2 else pairs)[:MOST_MEETINGS]:
            large = self.with_tensors(model, arguments, self.met_tensors(tensors, pair, self.large_size(trial), trial["seed"]))
            if large is None:
                continue
            ordinary = self.with_tensors(model, arguments, self.met_tensors(tensors, pair, 1.0, trial["seed"]))
            if ordinary is not None and all(torch.equal(x, y) for x, y in zip(large, ordinary)):
                return pair
        return None

    def with_tensors(self, model, arguments, changed):
        """The outputs with some tensors changed; None where there are none, or not finite ones."""
        try:
            outputs = self.plain(self.changed_model(model, arguments, changed), self.replaced(arguments, changed, 0))
        except Refusal as error:
            if of_memory(error):
                raise
            return None
        return outputs if all_finite(outputs) else None

    def changed_model(self, model, arguments, changed):
        first = sum(1 for _ in tensors_in(arguments))
        if not any(number >= first for number in changed):
            return model
        model = copy.deepcopy(model)
        with torch.no_grad():
            for number, (_, tensor) in enumerate(self.task.state_tensors(model), first):
                if number in changed:
                    tensor.copy_(changed[number])
        return model

    def takes(self, trial, arguments):
        """Whether the task itself runs on these. On integers that repeat it must give the same twice, and nothing infinite."""
        try:
            one = self.reference(self.model(trial), arguments)
            if trial["pattern"] != "repeats":
                return True
            other = self.reference(self.model(trial), arguments)
        except (Refusal, RuntimeError) as error:
            full = self.lacks_memory(error)   # which says nothing of the inputs
            if not full and (of_memory(error) or not isinstance(error, Refusal)):
                raise
            traceback.clear_frames((error.__cause__ or error).__traceback__)   # they hold tensors
            return full and trial["pattern"] != "repeats"
        return all_finite(one) and all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(one, other))

    def light(self, trial):
        """Extent and index of an axis of the first output, one of those where it is small; None: it has no such axis."""
        key = (trial["seed"], trial.get("turn", 0), trial.get("weights"))
        if key not in self.lights:
            output = self.reference(self.model(trial), self.task.make_inputs(trial["seed"]))[0]
            self.lights[key] = None
            if output.dim():
                axis = trial.get("turn", 0) % output.dim()
                self.lights[key] = output.shape[axis], dim_index(output, axis, trial["seed"])
        return self.lights[key]

    def model(self, trial):
        model = self.built_model(trial)
        if trial.get("pattern") != "meets_zero":
            return model
        return self.changed_model(model, self.task.arguments, self.meeting(trial))

    def built_model(self, trial):
        seed = trial.get("weights", WEIGHT_SEED)
        secret = self.unsettled and seed != WEIGHT_SEED
        key = seed, secret
        if key not in self.built:
            room = BUILT_BYTES
            for number, old in enumerate(list(self.built)[-2::-1], 3):
                room -= sum(bytes_of(each) for each in self.built[old].parameters())
                if room < 0 or number > MOST_BUILT:
                    del self.built[old]
            self.built[key] = self.unsettle(self.task.build_there(seed), seed) if secret else self.task.build(seed)
        return self.built[key]

    def unsettle(self, model, seed):
        """A module may need a number that a buffer holds as it is: then buffers stay."""
        task = self.task
        unsettle(model, task.state_tensors(model), seed)
        if not task.outputs:
            return model
        try:
            outputs = self.reference(model, task.make_inputs(WEIGHT_SEED))
            if [each.shape for each in outputs] == [each["tensor"].shape for each in task.outputs] and all_finite(outputs):
                return model
        except Refusal:
            pass
        model = task.build_there(seed)
        return unsettle(model, task.state_tensors(model), seed, buffers=False)

    def reference(self, model, arguments, seed=0):
        """PyTorch's own answer at its default flags."""
        outputs = self.task.forward(fresh(model), arguments, seed)
        for known, output in zip(self.task.outputs, outputs):
            if known["tensor"].shape != output.shape:
                raise Refusal(f"{self.task.path}: {known['name']} has the shape {list(known['tensor'].shape)} for some inputs and {list(output.shape)} for others; a task's "
                              "outputs have sizes that do not depend on values (return a mask, or as many as there may be)")
        return outputs

    def truth(self, model, arguments, known=None):
        """The outputs in double precision, or in float32 without TF32 where a module insists on its types or memory ends. `known` takes its products."""
        try:
            with contextlib.nullcontext() if known is None else Noting(known):
                outputs = self.in_double(model, arguments)
            self.precision = "PyTorch in float64"
            return outputs
        except Refusal as why:
            if of_memory(why) and not self.lacks_memory(why):
                raise
            self.precision = f"PyTorch in float32 without TF32 (float64 does not run: {why})"
        return [to_double(each) for each in self.plain(model, arguments)]

    def in_double(self, model, arguments):
        with exact(torch.float64):
            wide = change_state(fresh(model), to_double)
            return [to_double(each) for each in self.task.forward(wide, mapped(arguments, to_double))]

    def plain(self, model, arguments):
        """The outputs in float32 without TF32."""
        with exact(torch.float32):
            return self.task.forward(fresh(model), arguments)

    def sound(self, model, arguments, most_runs=MOST_RUNS, run_class=None):
        """The truth, and the standard deviation of a sound computation's error: of each output and element, from `runs` with
        disturbed intermediates, fewer where they take long. With MANY_RUNS some are disturbed by more than any other run is."""
        known = KnownProducts()
        truth = self.truth(model, arguments, known)
        if self.precision != "PyTorch in float64":
            return truth, self.rough_sigma(truth, model, arguments)
        self.wait()
        many = most_runs == MANY_RUNS
        stretches = (1, STRETCH, LARGEST_STRETCH) if many else (1, STRETCH)
        end = time.monotonic() + (MANY_SECONDS if many else RUNS_SECONDS[self.task.device.split(":")[0]])

        def goes_on(number):
            if number < (LEAST_MANY if many else LEAST_RUNS):
                return True
            self.wait()
            return time.monotonic() < end

        try:
            sigma, self.runs = sigma_of(lambda: self.in_double(model, arguments), truth, most_runs, secrets.randbits(40), run_class or self.task.precision, goes_on, known,
                                        stretches)
        except Refusal as why:   # the memory of the runs
            if of_memory(why) and not self.lacks_memory(why):
                raise
            sigma, self.runs = self.rough_sigma(truth, model, arguments), 0
        return truth, sigma

    def made_up(self, model, arguments, count):
        """Outputs of sound computations, as the model of rounding has them."""
        known = KnownProducts()
        for _ in range(count):
            with Rounding(secrets.randbits(40), self.task.precision, known=known):
                yield self.in_double(model, arguments)

    def rough_sigma(self, truth, model, arguments):
        """Where nothing is known of the operations: what sums of some hundred terms are off by, of the whole's size, and what PyTorch itself
        is off by in the class of precision."""
        with flags(self.task.precision):
            own = self.task.forward(fresh(model), arguments)

        def squares(values):
            return float(torch.nan_to_num(values, 0.0, 0.0, 0.0).square().sum())

        def of_one(right, mine):
            if not right.is_floating_point():
                return torch.zeros(0)
            error = 0.0
            for x, y in zip(pieces(right), pieces(mine)):
                x = x.double()
                error += (16 * RMS * UNIT) ** 2 * squares(x) + squares(x - y)
            return torch.full([], math.sqrt(error / max(1, right.numel())), dtype=torch.float64, device=right.device)

        return [of_one(right, mine) for right, mine in zip(truth, own)]

    def wait(self):
        if self.task.device != "cpu":
            torch.cuda.synchronize(self.task.device)

    def put(self, trial):
        """Computes a trial; the reply names the memory. Its layout: the interface's inputs, then for each output truth,
        reference and sigma as doubles."""
        task = self.task
        model, arguments = self.model(trial), self.arguments(trial)
        inputs = task.flat_inputs(model, arguments)
        reference = self.reference(model, arguments)
        truth, sigma = self.sound(model, arguments)
        usable = says_something(truth, reference)
        blocks = [each.contiguous() for each in inputs]
        for exact_one, own, off in zip(truth, reference, sigma):
            off = off if off.numel() else torch.zeros([], dtype=torch.float64, device=own.device)
            blocks += [exact_one.double().contiguous(), own.double().contiguous(), off.double().expand(own.shape).contiguous()]
        return {"memory": share(blocks), "finite": usable, "precision": self.precision}


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
