# SPDX-License-Identifier: Apache-2.0
"""What the inputs of a trial look like: the random numbers that get_inputs() draws are replaced where it draws them, so that
the structure that it builds of them (a triangle, a softmax, a sign) stays, and a stressed input is still one of the task's.
The patterns are those of reference/trial.hpp."""

import contextlib
import math
import random
import sys

import torch
from torch.overrides import TorchFunctionMode

OUTERMOST = 64       # elements at both ends that stay as declared where patterns are mixed
STRAY_SHARE = 24
PIECE = 1 << 22      # elements looked at together
POWERS = {torch.float16: 9}
MET = 4              # indices of a shared axis at which large elements meet zeros

# Whatever fills a tensor with random numbers of a continuous distribution. Integers and truth values stay as drawn: they
# may choose elements.
MAKERS = {"rand", "randn", "rand_like", "randn_like", "normal", "uniform_", "normal_", "log_normal_", "cauchy_", "exponential_"}
SETTLED = {"zeros_", "ones_", "constant_", "eye_", "dirac_", "calculate_gain"}   # of torch.nn.init


def unit(tensor):
    return torch.rand(tensor.shape, device=tensor.device).to(tensor.dtype)


def normal(tensor):
    return torch.randn(tensor.shape, device=tensor.device).to(tensor.dtype)


def sign(tensor):
    return (unit(tensor) < 0.5).to(tensor.dtype) * 2 - 1


def wide(tensor):
    """Of every magnitude; one in four evenly over the arguments for which an exponential is a float."""
    exponents = unit(tensor) * 208 - 104
    return torch.where(unit(tensor) < 0.25, exponents, sign(tensor) * torch.exp2(unit(tensor) * 20 - 10))


def far_below(tensor):
    """Nothing near 0 for a maximum to begin at."""
    return -(2.0 ** (15 if tensor.dtype == torch.float16 else 20)) * (0.25 + 0.75 * unit(tensor))


def integers(tensor):
    return torch.clamp(unit(tensor).mul_(7).floor_(), max=6).sub_(3)


def pick(kinds, values, otherwise):
    for number, value in values.items():
        otherwise = torch.where(kinds == number, value, otherwise)
    return otherwise


def inside(tensor, change):
    """Everything but the outermost elements changed, a piece at a time."""
    flat = tensor.reshape(-1).clone()
    edge = min(OUTERMOST, flat.numel() // 4)
    for begin in range(edge, flat.numel() - edge, PIECE):
        end = min(begin + PIECE, flat.numel() - edge)
        flat[begin:end] = change(flat[begin:end])
    return flat.reshape(tensor.shape)


def between(tensor, changed):
    """The changed tensor, but for the outermost elements."""
    mixed, kept = changed.reshape(-1), tensor.reshape(-1)
    edge = min(OUTERMOST, kept.numel() // 4)
    mixed[:edge] = kept[:edge]
    mixed[kept.numel() - edge:] = kept[kept.numel() - edge:]
    return mixed.reshape(tensor.shape)


def strays(values):
    def change(part):
        drawn = torch.rand(part.shape, device=part.device)
        drawn[torch.randint(0, part.numel(), (1,), device=part.device)] = 0   # one at least
        return torch.where(drawn < 1 / STRAY_SHARE, values(part).to(part.dtype), part)
    return lambda tensor: inside(tensor, change)


def lone(turn):
    """One element, away from the ends, is about 100, -100 or 16: no look at a sample of them meets it. Beside 16, exponentials of the others are
    faint, but still count."""
    def change(tensor):
        flat = tensor.reshape(-1).clone()
        edge = min(OUTERMOST, flat.numel() // 4)
        place = edge + torch.randint(0, flat.numel() - 2 * edge, (1,), device=flat.device)
        drawn = unit(flat[:1])
        flat[place] = (90 + 20 * drawn, -90 - 20 * drawn, 14 + 4 * drawn)[turn]
        return flat.reshape(tensor.shape)
    return change


def stray_values(part):
    kinds = torch.randint(0, 7, part.shape, device=part.device, dtype=torch.uint8)
    drawn, either = unit(part), sign(part)   # of each element one kind takes them
    return pick(kinds, {1: drawn * 2 - 1, 2: drawn * 6 - 3, 3: wide(part), 4: either * (90 + 20 * drawn), 5: drawn * 2000 - 1000, 6: either * (8 + 16 * drawn)},
                torch.zeros_like(part))


def mixed_values(part):
    """As stray, and a third of them of any magnitude up to 2^32: sums are of the largest alone, so that nothing averages out."""
    most = 5 if part.dtype == torch.float16 else 22
    return torch.where(unit(part) < 1 / 3, sign(part) * torch.exp2(10 + most * unit(part)), stray_values(part))


def infinities(part):
    return sign(part) * math.inf


def axis_of(tensor, turn):
    return (tensor.dim() - 1 - turn) % tensor.dim()


def along(tensor, axis, drawn):
    return drawn.reshape([-1 if i == axis else 1 for i in range(tensor.dim())])


def bands(turn, half=False):
    """Every index of one axis has a pattern of its own. `half`: nothing as large as 2^13, as reference/trial.hpp says."""
    def change(tensor):
        if tensor.dim() == 0:
            return tensor
        axis = axis_of(tensor, turn)
        kinds = along(tensor, axis, torch.randint(0, 8, (tensor.shape[axis],), device=tensor.device)).expand(tensor.shape)
        outliers = normal(tensor) * torch.where(unit(tensor) < 1 / 16, 1000.0, 1.0).to(tensor.dtype)
        values = {1: normal(tensor), 2: unit(tensor), 3: torch.zeros_like(tensor), 4: wide(tensor), 5: outliers}
        if not half:
            far = far_below(tensor)
            values |= {6: far, 7: -far}
        return between(tensor, pick(kinds, values, tensor))
    return change


def magnitudes(turn):
    def change(tensor):
        if tensor.dim() == 0:
            return tensor
        axis = axis_of(tensor, turn)
        powers = torch.randint(0, POWERS.get(tensor.dtype, 31), (tensor.shape[axis],), device=tensor.device)
        return tensor * torch.exp2(-along(tensor, axis, powers).to(tensor.dtype))
    return change


def tiny_values(part):
    exponent = torch.where(unit(part) < 0.1, -30 - 117 * unit(part), -18 - 12 * unit(part))
    return torch.where(unit(part) < 1 / 32, sign(part) * 0.0, sign(part) * torch.exp2(exponent))


def tiny(tensor):
    """Half of the elements; at some indices of the first axis all is next to nothing: what is added to a divisor counts there."""
    mixed = inside(tensor, lambda part: torch.where(unit(part) < 0.5, part, tiny_values(part)))
    if tensor.dim() == 0:
        return mixed
    rows = along(tensor, 0, torch.randint(0, 4, (tensor.shape[0],), device=tensor.device) == 0)
    nothing = sign(tensor) * torch.exp2(-38 - 4 * unit(tensor))
    return between(tensor, torch.where(rows, nothing.to(tensor.dtype), mixed))


def spotlight(extent, index):
    """0 but at one index of the first axis of this extent."""
    def change(tensor):
        for axis, size in enumerate(tensor.shape):
            if size == extent:
                lit = torch.zeros_like(tensor)
                lit.select(axis, index).copy_(tensor.select(axis, index))
                return lit
        return tensor
    return change


def meetings(tensors):
    """(of the large elements, its axis, of the zeros, its axis): pairs of tensors with an axis of one extent, which a product may contract.
    The last axes first: there a product has it most often."""
    axes = [(i, axis) for i, tensor in enumerate(tensors) for axis in reversed(range(tensor.dim()))]
    return [(i, a, j, b) for i, a in axes for j, b in axes if i != j and tensors[i].shape[a] == tensors[j].shape[b] >= MET]


def met_indices(extent, seed):
    return random.Random(seed).sample(range(extent), max(1, min(MET, extent // 4)))


def zeroed(tensor, axis, indices):
    return tensor.index_fill(axis, torch.tensor(indices, device=tensor.device), 0)


def enlarged(tensor, axis, indices, size, seed):
    """In half of the rows one of these indices of the axis holds an element of this size, or up to twice as large."""
    generator, result = generator_for(tensor, seed), tensor.clone()
    rows = result.movedim(axis, -1)
    chosen = torch.randint(0, 2 * len(indices), rows.shape[:-1], generator=generator, device=tensor.device)
    values = size * (1 + torch.rand(rows.shape[:-1], generator=generator, device=tensor.device))
    for number, index in enumerate(indices):
        rows[..., index] = torch.where(chosen == number, values.to(tensor.dtype), rows[..., index])
    return result


PATTERNS = {
    "normal": lambda turn: normal, "positive": lambda turn: unit, "wide": lambda turn: far_below if turn else wide, "integers": lambda turn: integers,
    "stray": lambda turn: strays(stray_values), "bands": bands, "magnitudes": magnitudes, "tiny": lambda turn: tiny,
    "infinite": lambda turn: strays(infinities), "mixed": lambda turn: strays(mixed_values),
    "lone": lone,
}


def with_ends(result, args, kwargs):
    """Two of the integers that torch.randint drew: the least and the largest that it may draw."""
    low, high = kwargs.get("low"), kwargs.get("high")
    numbers = [each for each in args if isinstance(each, int) and not isinstance(each, bool)]
    if high is None and numbers:
        low, high = numbers[:2] if len(numbers) > 1 else (low, numbers[0])
    elif low is None and numbers:   # randint(1, high=10, …)
        low = numbers[0]
    if isinstance(high, int) and result.numel() > 1 and result.dtype != torch.bool:
        flat = result.view(-1)
        for value, at in zip((low or 0, high - 1), torch.randperm(flat.numel(), device=flat.device)[:2].tolist()):
            flat[at] = value
    return result


class Drawing(TorchFunctionMode):
    def __init__(self, change, ends=False):
        super().__init__()
        self.change, self.ends = change, ends

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if self.ends and name == "randint" and isinstance(result, torch.Tensor):
            return with_ends(result, args, kwargs or {})
        if self.change is None:
            return result
        initialises = getattr(function, "__module__", "") == "torch.nn.init" and name not in SETTLED
        if (name in MAKERS or initialises) and isinstance(result, torch.Tensor) and result.is_floating_point() and result.numel():
            with torch.no_grad():
                result.copy_(self.change(result.detach()))
        return result


@contextlib.contextmanager
def drawing(pattern, turn=0, light=None, half=False):
    """While inputs are made. `light`: extent and index, of the spotlight. `half`: products are of 16 bits."""
    change = spotlight(*light) if light is not None else PATTERNS[pattern](turn) if pattern in PATTERNS else None
    if pattern == "bands" and half:
        change = bands(turn, half)
    if pattern == "repeats":   # integers alone are changed
        with Drawing(None, ends=True):
            yield
        return
    if change is None:
        yield
        return
    # It draws from the inverse of a distribution, of which a pattern's numbers are no arguments.
    name = "_no_grad_trunc_normal_"
    truncated = getattr(torch.nn.init, name, None)
    if truncated is not None:
        setattr(torch.nn.init, name, lambda tensor, mean=0.0, std=1.0, *others, **named: tensor.data.normal_(mean, std) if tensor.requires_grad else tensor.normal_(mean, std))
    try:
        with Drawing(change):
            yield
    finally:
        if truncated is not None:
            setattr(torch.nn.init, name, truncated)


def seed_all(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))


def is_constant(tensor):
    return bool((tensor == tensor.reshape(-1)[0]).all())


def moved(tensor, generator, anew):
    """By up to a quarter; a 0 that is not there by chance (`anew`) by up to a quarter of 1."""
    drawn = torch.rand(tensor.shape, generator=generator, device=generator.device).to(tensor.device, tensor.dtype)
    by = drawn.sub_(0.5).div_(2)
    result = tensor + tensor * by
    return torch.where(tensor == 0, by, result) if anew else result


def generator_for(tensor, seed):
    generator = torch.Generator(device=tensor.device)
    generator.manual_seed(seed)
    return generator


def move_constant(tensor, seed):
    """An input of nothing but one number, such as zeros, moved in every element."""
    if not tensor.is_floating_point() or not tensor.numel() or not is_constant(tensor):
        return tensor
    return moved(tensor, generator_for(tensor, seed), True)


def counts_up(tensor):
    """0, 1, 2 … in any order: positions, which may not repeat."""
    flat = tensor.reshape(-1)
    return flat.numel() > 1 and bool((flat.sort()[0] == torch.arange(flat.numel(), device=flat.device, dtype=flat.dtype)).all())


def repeated(tensor, generator):
    """Integers and truth values that repeat, all of them such as occur: at every index of an axis one value, or few. Positions are
    shuffled, and truth values that are all alike drawn."""
    if tensor.is_floating_point() or tensor.numel() < 2 or tensor.is_complex():
        return tensor

    def drawn(count, limit):
        return torch.randint(0, limit, (count,), generator=generator, device=generator.device).to(tensor.device)

    flat = tensor.reshape(-1)
    if tensor.dtype == torch.bool:
        values = torch.tensor([False, True], device=tensor.device)
    elif counts_up(tensor):
        order = torch.randperm(flat.numel(), generator=generator, device=generator.device).to(tensor.device)
        return flat[order].reshape(tensor.shape)
    else:
        values = torch.stack([flat.min(), flat.max(), flat[drawn(1, flat.numel())[0]]])
    axis = int(drawn(1, tensor.dim())[0])
    kinds = along(tensor, axis, drawn(tensor.shape[axis], 4)).expand(tensor.shape)
    few = values[drawn(flat.numel(), len(values))].reshape(tensor.shape)
    return pick(kinds, {0: values[0].expand(tensor.shape), 1: values[1].expand(tensor.shape), 2: few}, few if is_constant(tensor) else tensor)


def holds_only_bits(tensor):
    return bool(((tensor == 0) | (tensor == 1)).all())


def unsettle(model, tensors, seed, buffers=True):
    """Weights as after training: nothing is 0 or 1 because a constructor says so. Every parameter moves, and every buffer
    that holds a single number; tables and masks are the module's own. `tensors`: paths and tensors of the state."""
    parameters = {id(each) for each in model.parameters()}
    with torch.no_grad():
        for number, (_, tensor) in enumerate(tensors):
            if not tensor.is_floating_point() or not tensor.numel():
                continue
            parameter, constant = id(tensor) in parameters, is_constant(tensor)
            if parameter or (buffers and constant):
                anew = constant or holds_only_bits(tensor)
                tensor.copy_(moved(tensor.detach(), generator_for(tensor, (seed + number) % (1 << 63)), anew))
    return model


def full_width(tensor, limit, seed, below=False):
    """Integers of any magnitude below the limit, of both signs where the declared ones have both, or then all far below 0."""
    generator = generator_for(tensor, seed)
    signed = bool((tensor < 0).any())
    low, high = (-limit if signed else 0), (-(limit // 8) if signed and below else limit)
    return torch.randint(low, high, tensor.shape, generator=generator, device=tensor.device, dtype=torch.int64).to(tensor.dtype)


def dim_index(output, axis, seed):
    """A secret index of an axis, one of the quarter where the output is least."""
    others = [i for i in range(output.dim()) if i != axis]
    size = torch.nan_to_num(output.double().square()).sum(others) if others else output.double().square()
    order = torch.argsort(size)
    return int(order[random.Random(seed).randrange(max(1, output.shape[axis] // 4))])
