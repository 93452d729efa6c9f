# SPDX-License-Identifier: Apache-2.0
"""Trials of a task in memory that another process lends: inputs are made into it, outputs judged in it."""

import math
import secrets

import torch

from comparison import Comparison, kernelbench_tolerance, same_choice
from device_memory import Mappings
from task_cases import Perturbation, bytes_of, says_something, shape_of
from task_module import Refusal, mapped, tensors_in

WHOLE_LIMIT = 1 << 30      # bytes of inputs and outputs; of larger tasks the truth is taken on secret slices
CACHE_LIMIT = 1 << 30      # bytes of all expected outputs that are kept
WHOLE_FACTOR = 10          # times these bytes are at most in use while the truth of all of it is taken
SLICES = 2                 # of the first axis


class Expected:
    """What one trial's outputs must be; where `rows` is not None, `truth` and `noise` are of these alone."""

    def __init__(self, reference, truth, noise, rows, precision, relative_noise):
        self.reference, self.truth, self.noise, self.rows = reference, truth, noise, rows
        self.precision, self.relative_noise = precision, relative_noise
        self.is_finite = says_something(truth, reference if rows is None else [each[rows] for each in reference])   # the trial may be used

    def bytes(self):
        return sum(bytes_of(each) for group in (self.reference, self.truth, self.noise) for each in group)


def noise_of(truth, others):
    """How far sound computations are from the truth, element by element."""
    noise = torch.zeros_like(truth)
    for other in others:
        noise = torch.maximum(noise, torch.nan_to_num((other.double() - truth).abs(), 0.0, 0.0, 0.0))
    return noise.float()


class LentCases:
    def __init__(self, cases):
        self.cases, self.task = cases, cases.task
        self.mappings, self.sets, self.shared, self.expected = None, [], False, {}
        self.small = self.task.bytes() <= WHOLE_LIMIT

    def attach(self, sets, mappings=None):
        """`sets`: of places, those of the inputs and then of the outputs."""
        self.detach()
        self.mappings = mappings or Mappings(self.task.device)
        tensors = self.task.inputs + self.task.state + self.task.outputs
        self.sets = [[self.mappings.tensor(place, each["tensor"].dtype, each["tensor"].shape) for place, each in zip(places, tensors)]
                     for places in sets]

    def detach(self):
        self.sets, self.shared = [], False
        if self.mappings is not None:
            self.synchronize()
            self.mappings.close()
        self.mappings = None

    def forget(self):
        self.detach()
        self.expected = {}

    def synchronize(self):
        if self.task.device != "cpu":
            torch.cuda.synchronize(self.task.device)

    def release(self):
        """What PyTorch keeps for later is memory that the other process may need."""
        if self.task.device != "cpu" and not self.small:
            torch.cuda.empty_cache()

    def fill(self, number, trial):
        """Makes the inputs of a trial in a set."""
        self.make(number, trial)
        self.synchronize()
        self.release()
        return {}

    def make(self, number, trial):
        for place, tensor in zip(self.sets[number], self.task.flat_inputs(self.cases.model(trial), self.cases.arguments(trial))):
            place.copy_(tensor)

    def offer(self):
        """One set in memory of this process, for another that runs an answer: places of the inputs and of the outputs."""
        tensors = [each["tensor"] for each in self.task.inputs + self.task.state + self.task.outputs]
        places, total = [], 0
        for tensor in tensors:
            places.append({"offset": total, "bytes": bytes_of(tensor)})
            total += (bytes_of(tensor) + 255) // 256 * 256
        self.detach()
        mappings = Mappings(self.task.device)
        place = mappings.made(max(total, 1))
        places = [dict(place, **each) for each in places]
        self.attach([places], mappings)
        self.shared = True
        inputs, outputs = len(self.task.inputs), len(self.task.outputs)
        return {"places": places[:inputs] + places[len(places) - outputs:], "inputs": inputs,
                "outputs": [dict(shape_of(each["tensor"]), name=each["name"]) for each in self.task.outputs]}

    def tight(self):
        """One set only, because it is large: then nothing is made twice, and its inputs are those of the reference too. Not
        where who runs the answer can write to them."""
        return len(self.sets) == 1 and not self.shared

    def lent_arguments(self, number):
        """The arguments of forward in the memory of a set; None where forward wants them in another order in memory."""
        if not self.sets or any(not each.is_contiguous() for each in tensors_in(self.task.arguments)):
            return None
        left = iter(self.sets[number])
        return mapped(self.task.arguments, lambda each: next(left) if each.numel() else torch.empty_like(each, device=self.task.device))

    def expectation(self, trial, number):
        key = (trial["seed"], trial["pattern"], trial.get("weights"))
        found = self.expected.get(key)
        if found is not None:
            return found
        arguments = self.lent_arguments(number) if self.tight() else None
        if arguments is None:
            arguments = self.cases.arguments(trial)
        model = self.cases.model(trial)
        found = self.whole(model, arguments) if self.small else self.in_slices(model, arguments)
        if sum(each.bytes() for each in self.expected.values()) + found.bytes() <= CACHE_LIMIT:
            self.expected[key] = found
        return found

    def whole(self, model, arguments):
        reference = self.cases.reference(model, arguments)
        truth = self.cases.truth(model, arguments)
        precision = self.cases.precision
        moved = self.cases.truth(model, arguments, Perturbation(self.task.device))
        noise = [noise_of(right, (own, other)) if right.is_floating_point() else torch.zeros(0)
                 for right, own, other in zip(truth, reference, moved)]
        return Expected(reference, truth, noise, None, precision, 0.0)

    def in_slices(self, model, arguments):
        """PyTorch's own output, and the truth of some of its rows: those that come out alike when computed alone."""
        reference = self.cases.reference(model, arguments)
        rows = self.separable_rows(model, arguments, reference)
        if rows is None and self.fits(WHOLE_FACTOR * self.task.bytes()):
            del reference
            return self.whole(model, arguments)
        if rows is None:
            plain = self.cases.plain(model, arguments)
            return Expected(reference, plain, [torch.zeros(0)] * len(plain), None, "PyTorch in float32 without TF32 (too large for float64)",
                            16 * 2.0 ** -24)
        part = self.taken(arguments, rows)
        truth = self.cases.truth(model, part)
        moved = self.cases.truth(model, part, Perturbation(self.task.device))
        own = [each[rows] for each in reference]
        noise = [noise_of(right, (mine, other)) if right.is_floating_point() else torch.zeros(0)
                 for right, mine, other in zip(truth, own, moved)]
        relative = [float(each.double().norm() / max(float(right.double().norm()), 1e-300)) for each, right in zip(noise, truth) if right.is_floating_point()]
        return Expected(reference, truth, noise, rows, f"{self.cases.precision} on {len(rows)} secret slices of {reference[0].shape[0]}, "
                        "elsewhere PyTorch's own output", max(relative, default=0.0))

    def fits(self, count):
        return self.task.device != "cpu" and torch.cuda.mem_get_info(self.task.device)[0] > count

    def taken(self, arguments, rows):
        return mapped(arguments, lambda tensor: tensor[rows] if tensor.dim() > 0 and tensor.shape[0] == self.extent(arguments) else tensor)

    @staticmethod
    def extent(arguments):
        first = next(tensors_in(arguments), None)
        return first.shape[0] if first is not None and first.dim() > 0 else 0

    def separable_rows(self, model, arguments, reference):
        extent = self.extent(arguments)
        if extent <= SLICES or any(each.dim() == 0 or each.shape[0] != extent for each in reference):
            return None
        rows = sorted(secrets.SystemRandom().sample(range(extent), SLICES))
        try:
            alone = self.cases.reference(model, self.taken(arguments, rows))
        except Refusal:
            return None
        for mine, all_rows in zip(alone, reference):
            theirs = all_rows[rows]
            if mine.shape != theirs.shape or not torch.allclose(mine.double(), theirs.double(), rtol=1e-2, atol=1e-2 * float(theirs.double().abs().mean()),
                                                                equal_nan=True):
                return None
        return rows

    def compare(self, number, trial):
        """One finding per output."""
        expected = self.expectation(trial, number)
        inputs, outputs = len(self.task.inputs + self.task.state), self.sets[number]
        found = []
        for index, got in enumerate(outputs[inputs:]):
            result = self.compare_one(expected, index, got, self.own_inputs(number, trial))
            if trial["pattern"] == "declared":
                result["kernelbench_tolerance"] = kernelbench_tolerance(got, expected.reference[index])
            result["name"] = self.task.outputs[index]["name"]
            result["reference_relative_l2"] = self.reference_error(expected, index)
            found.append({key: repr(value) if isinstance(value, float) else value for key, value in result.items()})
        self.synchronize()
        self.release()
        return {"outputs": found, "precision": expected.precision, "finite": expected.is_finite}

    def own_inputs(self, number, trial):
        """The inputs of a trial, not as they stand in memory that somebody's answer can write to."""
        if self.shared:
            yield from self.task.flat_inputs(self.cases.model(trial), self.cases.arguments(trial))
        else:
            yield from self.sets[number][:len(self.task.inputs + self.task.state)]

    def compare_one(self, expected, index, got, inputs):
        reference, truth, rows = expected.reference[index], expected.truth[index], expected.rows
        noise = expected.noise[index] if truth.is_floating_point() else None
        if not got.is_floating_point():
            result = Comparison(got, reference if rows is not None else truth).run()
            if not result["right"] and got.dtype == torch.int64 and same_choice(got, reference, [each for each in inputs if each.dim() > 0]):
                result = dict(result, right=True, why="", first=None, worst=None)
            return result
        if rows is None:
            return Comparison(got, truth, noise if noise is not None and noise.numel() else None, expected.relative_noise).run()
        result = Comparison(got[rows], truth, noise).run()
        if not result["right"]:
            for element in (result["first"], result["worst"]):
                element["index"][0] = rows[element["index"][0]]
            return result
        # Both the answer and PyTorch may be off by their errors, so twice as far from each other and once more.
        everywhere = Comparison(got, reference, None, 1.5 * expected.relative_noise + 2.0 ** -24).run()
        return result if everywhere["right"] else everywhere

    def reference_error(self, expected, index):
        truth, reference = expected.truth[index], expected.reference[index]
        if not truth.is_floating_point() or truth.numel() == 0:
            return 0.0
        own = reference if expected.rows is None else reference[expected.rows]
        error = torch.nan_to_num((own.double() - truth.double()), 0.0, 0.0, 0.0).norm()
        norm = torch.nan_to_num(truth.double(), 0.0, 0.0, 0.0).norm()
        value = float(error / norm) if float(norm) > 0 else float(error)
        return value if math.isfinite(value) else 0.0
