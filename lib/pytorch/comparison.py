# SPDX-License-Identifier: Apache-2.0
"""Whether an output is right, decided where its bytes lie and a part at a time: the rules of verify/compare.cpp, whose
comments say why they are so."""

import math

import torch

CHUNK = 1 << 24            # elements looked at together
SHORTEST_SLICE = 32
BOUNDS = {torch.float64: (1e-7, 1e-7), torch.float32: (1.3e-6, 1e-5), torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5)}
UNITS = {torch.float64: 2.0 ** -53, torch.float32: 2.0 ** -24, torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}


def finite(values):
    return torch.where(torch.isfinite(values), values, torch.zeros_like(values))


def pieces(tensor):
    """A part at a time: what is computed of a large tensor may be as large again."""
    flat = tensor.reshape(-1)
    return (flat[begin:begin + CHUNK] for begin in range(0, flat.numel(), CHUNK))


def all_finite(tensors):
    return all(bool(torch.isfinite(piece).all()) for each in tensors if each.is_floating_point() for piece in pieces(each))


def mean_of(tensor):
    total = sum((piece.sum(dtype=torch.float64) for piece in pieces(tensor)), torch.zeros((), dtype=torch.float64, device=tensor.device))
    return total / max(1, tensor.numel())


class Sums:
    """Of one slice, or of many at once."""

    def __init__(self, error, noise, truth, max_error, max_noise, max_truth, count, within):
        self.error, self.noise, self.truth = error, noise, truth
        self.max_error, self.max_noise, self.max_truth = max_error, max_noise, max_truth
        self.count, self.within = count, within


class Comparison:
    """`truth` in double precision or the output's type, `noise` the error per element that a sound computation may make
    (None: none), `relative_noise` of the whole where truth is no oracle."""

    def __init__(self, got, truth, noise=None, relative_noise=0.0):
        self.shape, self.dtype = list(got.shape), got.dtype
        self.got, self.truth = got.reshape(-1), truth.reshape(-1)
        self.noise = None if noise is None else noise.reshape(-1)
        self.relative_noise, self.count = relative_noise, got.numel()
        self.result = {"right": True, "why": "", "first": None, "worst": None, "relative_l2": 0.0, "max_absolute": 0.0}

    def chunks(self, start=0, stop=None, length=1):
        step = max(1, CHUNK // length) * length
        stop = self.count if stop is None else stop
        for begin in range(start, stop, step):
            yield begin, min(stop, begin + step)

    def parts(self, begin, end):
        truth = self.truth[begin:end].double()
        error = finite((self.got[begin:end].double() - truth).abs())
        noise = torch.zeros_like(truth) if self.noise is None else self.noise[begin:end].double()
        return truth, error, noise

    def run(self):
        if self.count == 0:
            return self.result
        if not self.dtype.is_floating_point:
            return self.exact()
        if not self.same_pattern():
            return self.result
        squares, number = 0.0, 0
        for begin, end in self.chunks():
            truth = self.truth[begin:end].double()
            squares = squares + finite(truth).square().sum()
            number = number + torch.isfinite(truth).sum()
        self.relative, absolute = BOUNDS[self.dtype]
        self.absolute = absolute * min(1.0, math.sqrt(float(squares) / max(1, int(number))))
        self.unit = UNITS[self.dtype]
        whole = self.whole = self.slice_sums(0, self.count, self.absolute)
        self.result["max_absolute"] = whole.max_error
        self.result["relative_l2"] = whole.error / whole.truth if whole.truth > 0 else whole.error
        if not self.acceptable(whole):
            return self.reject("the error is larger than rounding explains", 0, self.count)
        if len(self.shape) > 1:
            for length in {self.shape[-1], self.count // self.shape[0]}:
                if length >= SHORTEST_SLICE and not self.slices_hold(length):
                    break
        return self.result

    def same_pattern(self):
        for begin, end in self.chunks():
            right, got = self.truth[begin:end].to(self.dtype), self.got[begin:end]
            same = torch.where(torch.isnan(right), torch.isnan(got), torch.where(torch.isinf(right), got == right, torch.isfinite(got)))
            if bool(same.all()):
                continue
            index = begin + int(torch.argmin(same.to(torch.int8)))
            value = float(self.got[index])
            self.result.update(right=False, relative_l2=math.inf, max_absolute=math.inf,
                               why="NaN where a number was expected" if value != value else
                                   "an infinity where a number was expected" if math.isinf(value) else
                                   "a number where NaN or an infinity was expected")
            self.result["first"] = self.result["worst"] = self.element(index)
            return False
        return True

    def exact(self):
        for begin, end in self.chunks():
            wrong = self.got[begin:end] != self.truth[begin:end].to(self.dtype)
            if not bool(wrong.any()):
                continue
            self.result.update(right=False, why="integers must be equal")
            self.result["first"] = self.result["worst"] = self.element(begin + int(torch.argmax(wrong.to(torch.int8))))
            break
        return self.result

    def element(self, flat):
        index, rest = [], flat
        for extent in reversed(self.shape):
            index.insert(0, rest % extent)
            rest //= extent
        return {"index": index, "got": repr(float(self.got[flat])), "expected": repr(float(self.truth[flat].to(self.dtype)))}

    def slice_sums(self, start, stop, absolute):
        """Of one slice, however long."""
        sums = [torch.zeros((), dtype=torch.float64, device=self.got.device) for _ in range(6)]
        within = torch.ones((), dtype=torch.bool, device=self.got.device)
        for begin, end in self.chunks(start, stop):
            truth, error, noise = self.parts(begin, end)
            size = finite(truth.abs())
            for i, values in enumerate((error, noise, size)):
                sums[i] = sums[i] + values.square().sum()
                sums[3 + i] = torch.maximum(sums[3 + i], values.max())
            within = within & (error <= absolute + self.relative * size).all()
        numbers = torch.stack(sums).tolist()
        return Sums(*(math.sqrt(each) for each in numbers[:3]), *numbers[3:], stop - start, bool(within))

    def many_sums(self, begin, end, length):
        """Of short slices, all at once, each held to its own size."""
        truth, error, noise = (each.view(-1, length) for each in self.parts(begin, end))
        size = finite(truth.abs())
        own = size.square().sum(1)
        absolute = BOUNDS[self.dtype][1] * torch.clamp((own / length).sqrt(), max=1.0)
        absolute = torch.clamp(torch.clamp(absolute, min=2 * self.unit * self.whole.max_truth), max=self.absolute)
        within = (error <= absolute[:, None] + self.relative * size).all(1)
        return Sums(error.square().sum(1).sqrt(), noise.square().sum(1).sqrt(), own.sqrt(),
                    error.max(1).values, noise.max(1).values, None, length, within)

    def allowed(self, sums, maximum):
        """Of the norm of the error, and of the largest."""
        factor = 3 if sums.count < 1000 or torch.finfo(self.dtype).bits < 32 else 2
        relative = max(self.whole.noise / self.whole.truth if self.whole.truth > 0 else 0.0, self.relative_noise)
        norm = factor * maximum(sums.noise, relative * sums.truth) + self.unit * sums.truth
        peak = max(self.whole.max_noise, 8 * self.relative_noise * self.whole.max_truth)
        return norm, factor * peak + 2 * self.unit * self.whole.max_truth

    def acceptable(self, sums):
        norm, peak = self.allowed(sums, max)
        return sums.within or (sums.error <= norm and sums.max_error <= peak)

    def slices_hold(self, length):
        for begin, end in self.chunks(length=length):
            if length > CHUNK:
                size = self.slice_sums(begin, end, 0).truth / math.sqrt(length)
                absolute = min(self.absolute, max(BOUNDS[self.dtype][1] * min(1.0, size), 2 * self.unit * self.whole.max_truth))
                good = torch.tensor([self.acceptable(self.slice_sums(begin, end, absolute))])
            else:
                sums = self.many_sums(begin, end, length)
                norm, peak = self.allowed(sums, torch.maximum)
                good = sums.within | ((sums.error <= norm) & (sums.max_error <= peak))
            if bool(good.all()):
                continue
            wrong = begin + int(torch.argmin(good.to(torch.int8))) * length
            self.reject("a row is wrong although the whole looks right", wrong, wrong + length)
            return False
        return True

    def reject(self, why, start, stop):
        """Names the first and the worst element beyond what any rule allows; the worst when each alone would pass."""
        factor = 3 if stop - start < 1000 or torch.finfo(self.dtype).bits < 32 else 2
        peak = factor * self.whole.max_noise + 2 * self.unit * self.whole.max_truth
        first, worst, worst_error = None, start, -1.0
        for begin, end in self.chunks(start, stop):
            truth, error, _ = self.parts(begin, end)
            largest, index = error.max(0)
            if float(largest) > worst_error:
                worst, worst_error = begin + int(index), float(largest)
            beyond = error > torch.clamp(self.absolute + self.relative * finite(truth.abs()), min=peak)
            if first is None and bool(beyond.any()):
                first = begin + int(torch.argmax(beyond.to(torch.int8)))
        self.result.update(right=False, why=why, worst=self.element(worst))
        self.result["first"] = self.element(worst if first is None else first)
        return self.result


def kernelbench_tolerance(got, reference):
    """The least tolerance at which KernelBench's own comparison passes: |got - reference| ≤ t + t·|reference|."""
    got, reference = got.reshape(-1), reference.reshape(-1)
    largest = 0.0
    for begin in range(0, got.numel(), CHUNK):
        right = reference[begin:begin + CHUNK].double()
        needed = ((got[begin:begin + CHUNK].double() - right).abs() / (1 + right.abs())).max()
        largest = max(largest, math.inf if bool(torch.isnan(needed)) else float(needed))
    return largest


def same_choice(got, right, inputs):
    """True when `got` are other indices of equally large, or small, elements of an input than `right`."""
    for values in inputs:
        for axis in range(values.dim()):
            rest = list(values.shape)
            del rest[axis]
            kept = list(values.shape[:axis]) + [1] + list(values.shape[axis + 1:])
            if list(got.shape) not in (rest, kept):
                continue
            there, mine = (each.reshape(kept) for each in (right, got))
            if not bool(((mine >= 0) & (mine < values.shape[axis]) & (there >= 0) & (there < values.shape[axis])).all()):
                continue
            chosen = values.gather(axis, there)
            largest = bool((chosen == values.amax(axis, keepdim=True)).all()) or bool((chosen == values.amin(axis, keepdim=True)).all())
            if largest and bool((values.gather(axis, mine) == chosen).all()):
                return True
    return False
