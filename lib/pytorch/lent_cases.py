# SPDX-License-Identifier: Apache-2.0
"""Trials of a task in memory that another process lends: inputs are made into it, outputs judged in it."""

import math
import secrets

import torch

from comparison import Comparison, Sound, all_finite, kernelbench_tolerance, rounded_to_16_bits, same_choice, same_order
from device_memory import Mappings
from task_cases import LEAST_MANY, MANY_RUNS, MOST_RUNS, bytes_of, says_something, shape_of
from task_module import Refusal, mapped, of_memory, tensors_in

WHOLE_LIMIT = 1 << 30      # bytes of inputs and outputs, and of what is made on the way; of larger tasks the truth is taken on secret slices
CACHE_LIMIT = 1 << 30      # bytes of all expected outputs that are kept without a GPU
CACHE_SHARE = 0.25         # of a GPU's memory that they may take, in all tasks that share it, and of what is free at most half
WHOLE_FACTOR, BESIDE_FACTOR = 10, 6   # times these bytes are at most in use while the truth of all of it is taken
SLICES = 4                 # of the first axis, at most
SLICE_BYTES = 256 << 20    # that are taken, or made on the way: in double precision, with sigma, they need ten times as much
MOST_OPERATIONS = 2e12     # of a run's products; of dearer tasks the truth is taken on secret slices as well. In double precision 0.05 s of an H100, a dozen times a trial
PIECE = 1 << 24            # elements looked at together
SOUND_RUNS = 8             # that are made up to compare with before something is refused
BOTH = 1.5                 # times sigma: two sound computations differ by the errors of both


def is_large(cases):
    return max(cases.task.bytes(), cases.beside) > WHOLE_LIMIT or cases.operations > MOST_OPERATIONS


class Expected:
    """What one trial's outputs must be. Where `rows` is not None, `truth` and `sigma` are of these indices of the first axis,
    and `everywhere` is PyTorch's own output in float32 without TF32, for all others."""

    def __init__(self, truth, sigma, precision, runs=0, rows=None, everywhere=None, reference=None, is_finite=True):
        self.truth, self.sigma, self.precision, self.runs = truth, sigma, precision, runs
        self.rows, self.everywhere, self.reference = rows, everywhere, reference
        self.is_finite = is_finite   # the trial may be used
        self.sounds = {}             # by output, what sound computations that were made up show
        self.used = 0                # the attachment in which it was asked for last

    def bytes(self):
        return sum(bytes_of(each) for group in (self.truth, self.sigma, self.everywhere or [], self.reference or []) for each in group)

    def spread(self, index):
        """Sigma of any row, from those of the rows whose truth is known, and what each row's is multiplied by: it is larger
        where the row is larger. PyTorch's own error is in it as well."""
        sigma, rows = self.sigma[index], self.everywhere[index]
        if sigma.dim() == 0 or sigma.numel() < self.truth[index].numel():
            return sigma * BOTH, None
        usual = math.sqrt(float(torch.nan_to_num(self.truth[index].double(), 0.0, 0.0, 0.0).square().mean()))
        sizes = torch.linalg.vector_norm(rows.reshape(rows.shape[0], -1), dim=1, dtype=torch.float64)
        if not all_finite([sizes]):
            step = max(1, PIECE // max(1, rows[0].numel()))
            sizes = torch.cat([torch.nan_to_num(part.reshape(part.shape[0], -1).double(), 0.0, 0.0, 0.0).square_().sum(1).sqrt_() for part in rows.split(step)])
        sizes = sizes / math.sqrt(max(1, rows[0].numel()))
        scale = (sizes / usual).clamp_(min=1.0) if usual > 0 else torch.ones_like(sizes)
        spread = sigma.double().square().mean(0, keepdim=True).sqrt_().mul_(BOTH)
        # Where no run crossed a threshold (a ReLU's) in any of the rows, other rows may.
        return spread.clamp_(min=float(spread.square().mean().sqrt()) / 4), scale


def as_text(value, within=("deviation", "slices")):
    """Numbers as JSON cannot say them, but for those that name elements."""
    if isinstance(value, dict):
        return {key: as_text(each) if key in within or isinstance(each, float) else each for key, each in value.items()}
    if isinstance(value, list):
        return [as_text(each) for each in value]
    return repr(value) if isinstance(value, float) else value


class LentCases:
    def __init__(self, cases):
        self.cases, self.task = cases, cases.task
        self.mappings, self.sets, self.shared, self.expected, self.attachments = None, [], False, {}, 0
        self.small = not is_large(cases)

    def attach(self, sets, mappings=None):
        """`sets`: of places, those of the inputs and then of the outputs."""
        self.detach()
        self.attachments += 1
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

    @staticmethod
    def key(trial):
        return trial["seed"], trial["pattern"], trial.get("weights")

    def expectation(self, trial, number):
        key = self.key(trial)
        found = self.expected.get(key)
        if found is not None:
            found.used = self.attachments
            return found
        arguments, model = self.arguments_of(number, trial), self.cases.model(trial)
        declared = trial["pattern"] == "declared"
        found = self.whole(model, arguments, declared) if self.small else self.in_slices(model, arguments, declared)
        self.keep(key, found)
        return found

    def keep(self, key, found):
        """Where there is room for it. What was not asked for since sets were attached makes room; of what was, the first are kept, because all
        are asked for again in the same order."""
        found.used = self.attachments
        earlier = [each for each, expected in self.expected.items() if expected.used < self.attachments]
        while not (fits := self.room_for(found.bytes(), sum(each.bytes() for each in self.expected.values()))) and earlier:
            del self.expected[earlier.pop(0)]
        if fits:
            self.expected[key] = found

    def whole(self, model, arguments, declared, runs=16):
        truth, sigma = self.cases.sound(model, arguments, runs)
        reference = self.cases.reference(model, arguments)
        return Expected(truth, sigma, self.cases.precision, self.cases.runs, reference=reference if declared else None,
                        is_finite=says_something(truth, reference))

    def in_slices(self, model, arguments, declared):
        """The truth of some rows: those that come out alike when computed alone. PyTorch in float32 for all others."""
        everywhere = self.cases.plain(model, arguments)
        rows = self.separable_rows(model, arguments, everywhere)
        if rows is None and self.fits(max(WHOLE_FACTOR * self.task.bytes(), BESIDE_FACTOR * self.cases.beside)):
            del everywhere
            return self.whole(model, arguments, declared, 4)
        if rows is None:
            return Expected(everywhere, self.cases.rough_sigma(everywhere, model, arguments),
                            "PyTorch in float32 without TF32 (too large for float64)", is_finite=all_finite(everywhere))
        truth, sigma = self.cases.sound(model, self.taken(arguments, rows))
        return Expected(truth, sigma, f"{self.cases.precision} on {len(rows)} secret slices of {everywhere[0].shape[0]} and on those that differ most, "
                        "elsewhere PyTorch in float32 without TF32", self.cases.runs, rows, everywhere,
                        is_finite=says_something(truth, [each[rows] for each in everywhere]))

    def arguments_of(self, number, trial):
        arguments = self.lent_arguments(number) if self.tight() else None
        return self.cases.arguments(trial) if arguments is None else arguments

    def of_rows(self, number, trial, rows, runs=MOST_RUNS):
        """Truth, sigma and number of runs of other indices of the first axis, or of all."""
        return (*self.cases.sound(self.cases.model(trial), self.rows_of(number, trial, rows), runs), self.cases.runs)

    def rows_of(self, number, trial, rows):
        arguments = self.arguments_of(number, trial)
        return arguments if rows is None else self.taken(arguments, rows)

    def room_for(self, more, kept):
        """Whether expected outputs are kept, beside others of `kept` bytes."""
        if self.task.device == "cpu":
            return kept + more <= CACHE_LIMIT
        free, total = torch.cuda.mem_get_info(self.task.device)
        taken = torch.cuda.memory_allocated(self.task.device)
        free += torch.cuda.memory_reserved(self.task.device) - taken
        if self.cases.share:
            free = min(free, self.cases.share - taken)
        next_one = WHOLE_FACTOR * self.task.bytes() if self.small else 2 * more   # taking the next truth needs it
        return kept + more <= CACHE_SHARE * total / self.cases.sharers and next_one <= free

    def fits(self, count):
        """On the GPU as it would be without others: what they take decides nothing."""
        if self.task.device == "cpu":
            return False
        free, total = torch.cuda.mem_get_info(self.task.device)
        return (total if self.cases.sharers > 1 else free) > count

    def taken(self, arguments, rows):
        return mapped(arguments, lambda tensor: tensor[rows] if tensor.dim() > 0 and tensor.shape[0] == self.extent(arguments) else tensor)

    @staticmethod
    def extent(arguments):
        first = next(tensors_in(arguments), None)
        return first.shape[0] if first is not None and first.dim() > 0 else 0

    def slices(self):
        """Of the first axis, as many as fit, but one."""
        extent = max(1, max((each["tensor"].shape[0] for each in self.task.outputs if each["tensor"].dim()), default=1))
        return max(1, min(SLICES, SLICE_BYTES * extent // max(1, self.task.bytes(), self.cases.beside), int(MOST_OPERATIONS * extent / max(1, self.cases.operations))))

    def separable_rows(self, model, arguments, everywhere):
        extent = self.extent(arguments)
        if extent <= SLICES or any(each.dim() == 0 or each.shape[0] != extent for each in everywhere):
            return None
        rows = sorted(secrets.SystemRandom().sample(range(extent), self.slices()))
        try:
            alone = self.cases.plain(model, self.taken(arguments, rows))
        except Refusal as error:
            if of_memory(error) and not self.cases.lacks_memory(error):
                raise
            return None
        for mine, all_rows in zip(alone, everywhere):
            theirs = all_rows[rows]
            if mine.shape != theirs.shape or not torch.allclose(mine.double(), theirs.double(), rtol=1e-4, atol=1e-4 * float(theirs.double().abs().mean()),
                                                                equal_nan=True):
                return None
        return rows

    def compare(self, number, trial):
        """What was measured of each output; the judge decides."""
        expected = self.expectation(trial, number)
        inputs, outputs = len(self.task.inputs + self.task.state), self.sets[number]
        found = []
        for index, got in enumerate(outputs[inputs:]):
            for result in self.compare_one(expected, index, got, number, trial):
                result["name"] = self.task.outputs[index]["name"]
                result["reference_relative_l2"] = self.reference_error(expected, index)
                if trial["pattern"] == "declared":
                    # Where PyTorch's default output is not kept, that without TF32 stands for it.
                    reference = (expected.reference or expected.everywhere or expected.truth)[index]
                    result["kernelbench_tolerance"] = kernelbench_tolerance(got, reference)
                    if result["right"] and rounded_to_16_bits(got, reference):
                        result.update(right=False, why="its results are numbers of 16 bits, where the type is float32")
                found.append(as_text(result))
        self.synchronize()
        self.release()
        return {"outputs": found, "precision": expected.precision, "finite": expected.is_finite}

    def own_inputs(self, number, trial):
        """The inputs of a trial, not as they stand in memory that somebody's answer can write to."""
        if self.shared:
            yield from self.task.flat_inputs(self.cases.model(trial), self.cases.arguments(trial))
        else:
            yield from self.sets[number][:len(self.task.inputs + self.task.state)]

    def compare_one(self, expected, index, got, number, trial):
        truth, rows = expected.truth[index], expected.rows
        everywhere = expected.everywhere[index] if rows is not None else None
        if not got.is_floating_point():
            right = truth if rows is None else everywhere
            result = Comparison(got, right).run()
            if not result["right"] and got.dtype == torch.int64:
                inputs = [each for each in self.own_inputs(number, trial) if each.dim() > 0]
                if same_choice(got, right, inputs) or same_order(got, right, inputs):
                    result.update(right=True, why="", first=None, worst=None)
            return [result]
        exactly = self.against_sampled(got, truth, expected.sigma[index], expected.runs, rows, index)
        if rows is None:
            return [exactly]
        spread, scale = expected.spread(index)
        return [exactly, dict(Comparison(got, everywhere, spread, scale=scale).run(), doubted=index)]

    def against_sampled(self, got, truth, sigma, runs, rows, index, sound=Sound()):
        """`rows`: those that truth and sigma are of; None: all. What few runs decided may be asked for again, of more."""
        sampled = runs > 0 and sigma.dim() > 0
        result = Comparison(got if rows is None else got[rows], truth, sigma, runs if sampled else 0, sound=sound).run()
        if sampled and runs < MANY_RUNS:
            result["sampled"] = {"index": index, "rows": rows}
        return result if rows is None else self.at_rows(result, rows)

    def look_closer(self, number, trial, index):
        """PyTorch's own error is in what was measured elsewhere. Of the rows that differ most the truth is taken as well, and decides."""
        expected, got = self.expectation(trial, number), self.output(number, index)
        if expected.rows is None:   # now the truth of all of it could be had
            result = self.against_sampled(got, expected.truth[index], expected.sigma[index], expected.runs, None, index)
        else:
            spread, scale = expected.spread(index)
            most = Comparison(got, expected.everywhere[index], spread, scale=scale).furthest_rows(self.slices())
            truths, sigmas, runs = self.of_rows(number, trial, most)
            result = self.against_sampled(got, truths[index], sigmas[index], runs, most, index)
        result.update(name=self.task.outputs[index]["name"], reference_relative_l2=self.reference_error(expected, index))
        return {"output": as_text(result)}

    def look_again(self, number, trial, index, rows):
        """Few runs may disturb two numbers alike whose difference counts, and move few results across a threshold. Before something is
        refused by them, sigma is taken from many, and sound computations are compared as well."""
        found = self.from_many(number, trial, rows)
        if index not in found.sounds:
            found.sounds[index] = self.sound_of(found, number, trial, index) if found.runs and found.sigma[index].dim() > 0 else Sound()
        return {"output": as_text(self.against_sampled(self.output(number, index), found.truth[index], found.sigma[index], found.runs, rows, index, found.sounds[index]))}

    def from_many(self, number, trial, rows):
        """Taken once for the candidates of a task where what is expected of the trial is kept, and counts for later ones from the beginning."""
        kept = self.expected.get(self.key(trial))
        if kept is not None and kept.rows == rows and kept.runs >= LEAST_MANY:
            return kept
        truths, sigmas, runs = self.of_rows(number, trial, rows, MANY_RUNS)
        if kept is None or kept.rows != rows:
            return Expected(truths, sigmas, self.cases.precision, runs, rows)
        kept.truth, kept.sigma, kept.runs, kept.sounds = truths, sigmas, runs, {}
        return kept

    def sound_of(self, found, number, trial, index):
        sound, of_type = Sound(), self.output(number, index).dtype
        for outputs in self.cases.made_up(self.cases.model(trial), self.rows_of(number, trial, found.rows), SOUND_RUNS):
            theirs = Comparison(outputs[index].to(of_type), found.truth[index], found.sigma[index], found.runs)
            told = theirs.run()
            sound = Sound(max(sound.error, told["max_absolute"]), max(sound.strays, theirs.stray_count), max(sound.slice, told["deviation"]["slice"]))
        return sound

    def output(self, number, index):
        return self.sets[number][len(self.task.inputs + self.task.state) + index]

    @staticmethod
    def at_rows(result, rows):
        """With the places of its elements in the whole output."""
        if result["first"] is not None:
            for name in ("first", "worst"):
                place = result[name]["index"]
                result[name] = dict(result[name], index=[rows[place[0]]] + place[1:])
        return result

    def reference_error(self, expected, index):
        if expected.reference is None or not expected.truth[index].is_floating_point() or expected.truth[index].numel() == 0:
            return 0.0
        truth, own = expected.truth[index], expected.reference[index]
        error = torch.nan_to_num((own.double() - truth.double()), 0.0, 0.0, 0.0).norm()
        norm = torch.nan_to_num(truth.double(), 0.0, 0.0, 0.0).norm()
        value = float(error / norm) if float(norm) > 0 else float(error)
        return value if math.isfinite(value) else 0.0
