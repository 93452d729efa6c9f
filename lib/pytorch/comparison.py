# SPDX-License-Identifier: Apache-2.0
"""How far an output is from what is right, measured where its bytes lie and a part at a time. What is decided of it is the
judge's (reference/rule.hpp), whose numbers are handed over; the measures are those of verify/compare.cpp, whose comments say why
they are so, and a test compares the two. On a GPU it takes as long as memory is read and written: each line below that touches a whole
part counts."""

import math
import typing

import torch

CHUNK = 1 << 24            # elements looked at together
LOOKED_AT = 1 << 20        # results whose bits are looked at
BELOW_16_BITS = 0x1FFF     # bits of a float32 that no float16 or bfloat16 has
rule = {}                  # its numbers, by the names that reference/rule.hpp has


class Sound(typing.NamedTuple):
    """Of sound computations that were made up to compare with, at most."""
    error: float = 0.0   # of an element
    strays: int = 0      # elements beyond their bound
    slice: float = 0.0   # as deviations have it


def finite(values):
    return torch.where(torch.isfinite(values), values, torch.zeros_like(values))


def pieces(tensor):
    """A part at a time: what is computed of a large tensor may be as large again."""
    flat = tensor.reshape(-1)
    return (flat[begin:begin + CHUNK] for begin in range(0, flat.numel(), CHUNK))


def all_true(flags):
    """Of tensors of one truth value each, looked at together: where several processes share a GPU, each look waits for the turns of all others."""
    flags = list(flags)
    return not flags or bool(torch.stack(flags).all())


def all_finite(tensors):
    return all_true(torch.isfinite(piece).all() for each in tensors if each.is_floating_point() for piece in pieces(each))


def mean_of(tensor):
    total = sum((piece.sum(dtype=torch.float64) for piece in pieces(tensor)), torch.zeros((), dtype=torch.float64, device=tensor.device))
    return total / max(1, tensor.numel())


def blocks(shape, limit=CHUNK):
    """Parts of a shape of at most `limit` elements each, as one slice for each axis."""
    count = math.prod(shape)
    if count <= limit:
        yield tuple(slice(0, extent) for extent in shape)
        return
    axis = next(i for i, extent in enumerate(shape) if extent > 1)
    inner = count // shape[axis]
    step = max(1, limit // inner)
    for begin in range(0, shape[axis], step):
        here = slice(begin, min(shape[axis], begin + step))
        rest = [1] * axis + [here.stop - here.start] + list(shape[axis + 1:])
        for part in blocks(rest[:axis] + [1] + rest[axis + 1:], limit) if step == 1 and inner > limit else [tuple(slice(0, each) for each in rest)]:
            yield part[:axis] + (here,) + part[axis + 1:]


class Furthest:
    """The largest of what is added a part at a time, looked at only at the end."""

    def __init__(self):
        self.parts, self.values, self.places = [], [], []

    def add(self, part, ratios):
        value, place = ratios.max(0)
        self.parts.append(part)
        self.values.append(value)
        self.places.append(place)

    def found(self):
        """Its value, its part and its place within that; -1 and nothing where there is none that is a number."""
        value, number = -1.0, None
        for each, own in enumerate(torch.stack(self.values).tolist() if self.values else []):
            if own > value:
                value, number = own, each
        return (value, None, None) if number is None else (value, self.parts[number], int(self.places[number]))


class Comparison:
    """`truth` in double precision or the output's type; `sigma` the standard deviation of a sound computation's error, of
    truth's shape or one that is broadcast to it (None: only the rounding of the result). `runs`: that sigma is estimated
    from, 0 if from a formula; where it is 0, and of few runs anywhere, it is raised to a quarter of what is usual along each
    axis. `scale` multiplies sigma along the first axis."""

    def __init__(self, got, truth, sigma=None, runs=0, scale=None, sound=Sound()):
        self.dtype = got.dtype
        self.shape = list(got.shape) or [1]
        self.got, self.truth = got.reshape(self.shape), truth.reshape(self.shape)
        self.sigma, self.runs, self.scale, self.sound = sigma, runs, scale, sound
        self.own = None   # the variance that sigma says, where it is not a value for each element
        if sigma is not None:
            full = sigma.numel() == got.numel()
            if not full:
                self.own = torch.nan_to_num(sigma.double(), 0.0, 0.0, 0.0).square_().expand(self.shape)
            self.sigma = (sigma.reshape(self.shape) if full else sigma).expand(self.shape)
        self.stray_count = 0  # elements beyond their bound
        self.special = True   # some value is NaN or an infinity
        self.of_type = rule["types"].get(str(self.dtype).removeprefix("torch."))
        self.raised = []
        self.result = {"exact": False, "right": True, "why": "", "first": None, "worst": None, "relative_l2": 0.0, "max_absolute": 0.0,
                       "deviation": {"whole": 0.0, "count": float(max(1, got.numel())), "slices": [], "slice": 0.0, "slice_count": 0, "slice_name": "", "element": 0.0, "bias": 0.0, "alike": 0.0}}

    def run(self):
        """Measures; `right` is False only for what no bound decides: another pattern of NaN and infinities, other integers."""
        if self.got.numel() == 0:
            return self.result
        if not self.dtype.is_floating_point:
            return self.exact()
        if not self.same_pattern():
            return self.result
        if self.runs:
            self.lay_out_floors()
        self.measure()
        return self.result

    def all_numbers(self):
        """All values are finite, in the output's type too."""
        if not self.dtype.is_floating_point or not self.truth.is_floating_point():
            return False
        most = torch.finfo(self.dtype).max

        def within(values):
            least, largest = torch.aminmax(values if values.element_size() > 2 else values.float())   # NaN if one is
            return (least >= -most) & (largest <= most)

        return all_true(within(values[part]) for part in blocks(self.shape) for values in (self.truth, self.got))

    def same_pattern(self):
        self.special = not self.all_numbers()
        if not self.special:
            return True
        for part in blocks(self.shape):
            right, got = self.truth[part].to(self.dtype), self.got[part]
            same = torch.where(torch.isnan(right), torch.isnan(got), torch.where(torch.isinf(right), got == right, torch.isfinite(got)))
            if bool(same.all()):
                continue
            index = self.place(part, int(torch.argmin(same.to(torch.int8))))
            value = float(self.got[index])
            self.result.update(right=False, relative_l2=math.inf, max_absolute=math.inf,
                               why="NaN where a number was expected" if value != value else
                                   "an infinity where a number was expected" if math.isinf(value) else
                                   "a number where NaN or an infinity was expected")
            self.result["first"] = self.result["worst"] = self.element(index)
            return False
        return True

    def exact(self):
        self.result["exact"] = True
        for part in blocks(self.shape):
            wrong = self.got[part] != self.truth[part].to(self.dtype)
            if not bool(wrong.any()):
                continue
            self.result.update(right=False, why="integers must be equal")
            self.result["first"] = self.result["worst"] = self.element(self.place(part, int(torch.argmax(wrong.to(torch.int8)))))
            break
        return self.result

    def place(self, part, flat):
        """The index of an element of a part in the whole."""
        index = []
        for extent in reversed([each.stop - each.start for each in part]):
            index.insert(0, flat % extent)
            flat //= extent
        return tuple(each.start + own for each, own in zip(part, index))

    def element(self, index):
        return {"index": list(index), "got": repr(float(self.got[index])), "expected": repr(float(self.truth[index].to(self.dtype)))}

    def base_variance(self, part, truth=None):
        truth = self.truth[part].double() if truth is None else truth
        variance = (finite(truth) if self.special else truth).mul(rule["rounding_rms"] * self.of_type["unit"]).square_()
        if self.own is not None:
            own = self.own[part]
            if self.scale is not None:
                own = own * self.scale[part[0]].square().reshape([-1] + [1] * (len(self.shape) - 1))
            torch.maximum(variance, own, out=variance)
        elif self.sigma is not None:
            torch.maximum(variance, torch.nan_to_num(self.sigma[part].double(), 0.0, 0.0, 0.0).square_(), out=variance)
        return variance.add_(self.of_type["least_step"] ** 2)

    def furthest_rows(self, count):
        """The indices of the first axis with the largest element of error over sigma, and with the largest sum."""
        largest, sums = (torch.zeros(self.shape[0], dtype=torch.float64, device=self.got.device) for _ in range(2))
        for part in blocks(self.shape):
            ratio = (self.got[part] - self.truth[part].double()).square_().div_(self.variance(part))
            ratio = finite(ratio).reshape(ratio.shape[0], -1)
            largest[part[0]] = torch.maximum(largest[part[0]], ratio.amax(1))
            sums[part[0]] += ratio.sum(1)
        rows = [int(row) for each in (largest, sums) for row in each.topk(min(count, self.shape[0])).indices]
        return sorted(set(rows))

    def lay_out_floors(self):
        """The rule's share of the mean variance along each axis: of the whole, kept with that axis of length one."""
        for axis, extent in enumerate(self.shape):
            if extent >= rule["shortest_slice"]:
                rest = self.shape[:axis] + [1] + self.shape[axis + 1:]
                self.raised.append((axis, torch.zeros(rest, dtype=torch.float64, device=self.got.device)))
        for part in blocks(self.shape):
            variance = self.base_variance(part)
            for axis, means in self.raised:
                means[part[:axis] + (slice(0, 1),) + part[axis + 1:]] += variance.sum(axis, keepdim=True) * (rule["floor_share"] / self.shape[axis])

    def variance(self, part, truth=None):
        variance = self.base_variance(part, truth)
        floor = None
        for axis, means in self.raised:
            here = means[part[:axis] + (slice(0, 1),) + part[axis + 1:]].expand(variance.shape)
            floor = here if floor is None else torch.minimum(floor, here)
        last, neighbours = variance.shape[-1], rule["neighbours"]
        if floor is not None and last >= 2 * neighbours:
            near = torch.nn.functional.avg_pool1d(variance.reshape(-1, 1, last), neighbours, neighbours, ceil_mode=True).reshape(variance.shape[:-1] + (-1,))
            floor = torch.minimum(floor, near.repeat_interleave(neighbours, -1)[..., :last] * rule["floor_share"])
        if floor is None:
            return variance
        raised = torch.maximum(variance, floor)
        return raised if self.runs < rule["enough_runs"] else torch.where(self.sigma[part] == 0, raised, variance)

    def most_strays(self):
        return max(1, int(rule["stray_share"] * self.got.numel()), rule["sound_factor"] * self.sound.strays)

    def is_near(self, square, index, slices):
        """Whether an element is off by no more than its neighbours may be, in the slice of each axis that it lies in, or not much more than
        some element of sound computations is."""
        usual = [float(variances[at]) * extent / self.got.numel() for at, extent, (_, variances, _) in zip(index, self.shape, slices)]
        return square <= max(rule["stray_bound"] ** 2 * min(usual), (rule["sound_factor"] * self.sound.error) ** 2)

    def slice_ratio(self, errors, variances, fourths):
        """Squared. A slice whose variance is that of a few elements is held to what they are, as one of few elements is."""
        off = errors / variances
        if not self.runs:
            return off
        return off * (variances.square() / fourths / rule["shortest_slice"]).nan_to_num_(1.0).clamp_(max=1.0)

    def alike(self):
        """The share of pairs of results, zeros apart, that are the same number."""
        rounded = self.truth.reshape(-1)[::self.truth.numel() // rule["looked_at_alike"] | 1].to(self.dtype)
        times = rounded[torch.isfinite(rounded) & (rounded != 0)].unique(return_counts=True)[1].double()
        return float(times.square().sum() / times.sum().square()) if times.numel() else 0.0

    def measure(self):
        """Strays are rare: what they take, which waits for each part, is done only where some are found."""
        if not self.measured(strays_apart=False):
            self.measured(strays_apart=True)

    def measured(self, strays_apart):
        """False where there are strays, and they were not held apart."""
        device, deviation = self.got.device, self.result["deviation"]
        most_off = rule["element_bound"] ** 2
        double = {"dtype": torch.float64, "device": device}
        slices = [tuple(torch.zeros(extent, **double) for _ in range(3)) for extent in self.shape]   # of errors, variances, and these squared
        truth_squares, largest = torch.zeros((), **double), torch.zeros((), **double)
        row_variances, row_ratios, row_ratio_squares, signed, sigmas = (torch.zeros((), **double) for _ in range(5))
        strays, usual_off, furthest, furthest_rows = [], 0.0, Furthest(), Furthest()
        for part in blocks(self.shape):
            truth = self.truth[part].double()
            error, variance = self.got[part] - truth, self.variance(part, truth)
            if self.special:
                truth, error = finite(truth), finite(error)
            truth_squares += torch.linalg.vector_norm(truth).square()
            if torch.finfo(self.dtype).bits < 32:
                rounded = self.truth[part].to(self.dtype).double()   # what is rounded alike is off in one direction by chance
                off = self.got[part] - rounded
                signed += ((finite(off) if self.special else off) * torch.where(truth < 0, -1.0, 1.0)).sum()
                sigmas += variance.sqrt().sum()
            squares = error.square_()
            largest = torch.maximum(largest, squares.max())
            ratios = (squares / variance).reshape(-1)
            furthest.add(part, ratios)
            kept = squares   # in rows: whether strays are right is decided of each
            if strays_apart:
                beyond = ratios > most_off
                kept = squares.masked_fill(beyond.reshape(squares.shape), 0)
                found = torch.nonzero(beyond).reshape(-1)
                self.stray_count += found.numel()
                if self.stray_count <= self.most_strays():
                    strays += [(self.place(part, each), float(squares.reshape(-1)[each])) for each in found.tolist()]
                usual_off = max(usual_off, float(ratios.masked_fill_(beyond, 0).max()))
            fourth = variance.square() if self.runs else None
            for values, own in zip(slices[-1], (squares, variance, fourth) if self.runs else (squares, variance)):
                values[part[-1]] += own.reshape(-1, own.shape[-1]).sum(0)
            if len(self.shape) == 1:
                continue
            row_squares, row_variance, row_fourth = squares.sum(-1), variance.sum(-1), fourth.sum(-1) if self.runs else None
            row_variances += row_variance.square().sum()
            row_ratio = row_squares / row_variance
            row_ratios += row_ratio.sum()
            row_ratio_squares += row_ratio.square().sum()
            if part[-1].stop - part[-1].start == self.shape[-1] >= rule["shortest_slice"]:
                kept_squares = kept.sum(-1) if strays_apart else row_squares
                furthest_rows.add(part[:-1] + (slice(0, 1),), self.slice_ratio(kept_squares, row_variance, row_fourth).reshape(-1))
            for axis, (errors, variances, fourths) in enumerate(slices[:-1]):
                others = [i for i in range(len(self.shape) - 1) if i != axis]
                errors[part[axis]] += row_squares.sum(others) if others else row_squares
                variances[part[axis]] += row_variance.sum(others) if others else row_variance
                if self.runs:
                    fourths[part[axis]] += row_fourth.sum(others) if others else row_fourth
        worst_off, part, at = furthest.found()
        if self.runs and worst_off > most_off and not strays_apart:
            return False
        worst = self.place(part, at)
        row_off, part, at = furthest_rows.found()
        row_name = ""
        if row_off > 0:
            row_name = "row " + str(sum(own * math.prod(self.shape[i + 1:-1]) for i, own in enumerate(self.place(part, at)[:-1])))
        rows = [(row_variances, row_ratios, row_ratio_squares)] if len(self.shape) > 1 else []
        counts = [self.got.numel() // self.shape[-1]] if rows else []
        for extent, (errors, variances, _) in zip(self.shape, slices):
            if extent > 1:
                ratio = errors / variances
                rows.append((variances.square().sum(), ratio.sum(), ratio.square().sum()))
                counts.append(extent)
        error, variance, largest, truth_squares, signed, sigmas, *rows = torch.stack(
            [slices[0][0].sum(), slices[0][1].sum(), largest, truth_squares, signed, sigmas, *(each for row in rows for each in row)]).tolist()
        deviation["slices"] = [[own / variance / variance, ratios, squares, float(count)]
                               for own, ratios, squares, count in zip(rows[::3], rows[1::3], rows[2::3], counts)]
        self.result["max_absolute"] = math.sqrt(largest)
        self.result["relative_l2"] = math.sqrt(error / truth_squares) if truth_squares > 0 else math.sqrt(error)
        deviation.update(whole=math.sqrt(error / variance), element=math.sqrt(max(0.0, worst_off)), slice=math.sqrt(max(0.0, row_off)), slice_name=row_name,
                         slice_count=self.shape[-1] if row_name else 0)
        if strays and self.stray_count == len(strays) and all(self.is_near(square, index, slices) for index, square in strays):
            deviation["element"] = math.sqrt(usual_off)
        else:
            strays = []
        deviation["bias"] = abs(signed) / sigmas if sigmas > 0 else 0.0
        if torch.finfo(self.dtype).bits < 32:
            deviation["alike"] = self.alike()
        self.measure_axes(slices, strays)
        deviation["slice"] /= max(1.0, rule["sound_factor"] * self.sound.slice / rule["slice_bound"])
        self.result["worst"] = self.result["first"] = self.element(worst)
        return True

    def measure_axes(self, slices, strays):
        """The slice that is furthest off, of all axes."""
        deviation, furthest = self.result["deviation"], Furthest()
        for axis, (errors, variances, fourths) in enumerate(slices):
            length = self.got.numel() // max(1, self.shape[axis])
            if self.shape[axis] < 2 or length < rule["shortest_slice"]:
                continue
            if self.sound.error:
                for index, square in strays:
                    errors[index[axis]] -= square
            furthest.add((axis, length), self.slice_ratio(errors.clamp_(min=0.0), variances, fourths))
        off, part, index = furthest.found()
        if off > 0 and math.sqrt(off) > deviation["slice"]:
            deviation.update(slice=math.sqrt(off), slice_count=part[1], slice_name=f"index {index} of axis {part[0]}")


def kernelbench_tolerance(got, reference):
    """The least tolerance at which KernelBench's own comparison passes: |got - reference| ≤ t + t·|reference|."""
    got, reference = got.reshape(-1), reference.reshape(-1)
    needed = [torch.zeros((), device=got.device)]
    for begin in range(0, got.numel(), CHUNK):
        right = reference[begin:begin + CHUNK]
        right = right.float() if right.element_size() < 4 or not right.is_floating_point() else right
        needed.append((got[begin:begin + CHUNK] - right).abs_().div_(right.abs().add_(1)).max().float())
    largest = float(torch.stack(needed).max())   # NaN if one is
    return math.inf if math.isnan(largest) else largest


def rounded_to_16_bits(got, own):
    """Whether results in float32 are numbers of float16 or bfloat16, though PyTorch's own are not: a class of precision lets
    operands be rounded, not results. Of a result by chance: once in 2^13; of one in 64 of many: never."""
    if got.dtype != torch.float32 or own.dtype != torch.float32:
        return False
    mine, theirs = (each.reshape(-1)[:LOOKED_AT].contiguous().view(torch.int32) & BELOW_16_BITS != 0 for each in (got, own))
    long = int(theirs.sum())
    return long >= 64 and int((theirs & ~mine).sum()) > max(8, long // 64)


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


def same_order(got, right, inputs):
    """True when `got` are other indices than `right` of the same numbers in the same order along one axis of an input, as a sort gives them, or a top-k."""
    for values in inputs:
        for axis in range(values.dim()) if values.dim() == got.dim() else ():
            extent = values.shape[axis]
            if any(theirs != ours for i, (theirs, ours) in enumerate(zip(values.shape, got.shape)) if i != axis) or not 0 < got.shape[axis] <= extent:
                continue
            if not bool(((got >= 0) & (got < extent) & (right >= 0) & (right < extent)).all()):
                continue
            numbers, mine = values.gather(axis, right), values.gather(axis, got)
            steps = numbers.diff(dim=axis)
            in_order = bool((steps >= 0).logical_or(steps.isnan()).all()) or bool((steps <= 0).logical_or(steps.isnan()).all())
            distinct = bool((got.sort(axis).values.diff(dim=axis) > 0).all())
            if in_order and distinct and bool(((mine == numbers) | (mine.isnan() & numbers.isnan())).all()):
                return True
    return False
