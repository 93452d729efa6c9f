# SPDX-License-Identifier: Apache-2.0
"""How far sound float arithmetic may be from a module's outputs: the module runs in double precision several times, each
time with the result of every operation disturbed by what its own roundings may add up to. The rules are those of
tensor/rounding.hpp and tensor/rounding_rule.cpp, which say why; here they are by PyTorch's own operations."""

import math
import struct

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import precision
from comparison import finite
from known_products import KnownProducts, Product
from rounding_formulas import FORMULAS, resampled

UNIT = 2.0 ** -24
RMS = 0.41
SHORT = {torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}   # their unit roundoffs
EXACT_BELOW = 2.0 ** 24
DISTURBED = 32 * UNIT          # equal numbers differ by as much once they have been disturbed
LOOKS = 1 << 16
LONGEST = 1 << 17              # terms that one float32 accumulator may take; longer sums are to be added up in parts
STRETCH = 5                     # sigmas that every second run disturbs by: errors are as large at times, and may cross a threshold there
LARGEST_STRETCH = 8             # of 10^9 errors the largest is about 6 sigmas
LEAST_SIZE, SIZES = 0.75, 0.4807   # of a disturbance, in sigmas: from 0.75 to 1.2307, whose mean square is 1
LARGEST = 2.0 ** 127
QUICK_LEAST, QUICK_MOST = 2.0 ** -100, 2.0 ** 120   # sums of squares that float32 holds: what lies below its own range is nothing beside them
SMALLEST_NORMAL = 2.0 ** -126   # what an operation gives below it may be flushed to zero

EXACT = {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "relu", "clamp", "clamp_min", "clamp_max", "hardtanh", "threshold", "maximum", "minimum",
         "max", "min", "amax", "amin", "where", "masked_fill", "view", "_unsafe_view", "reshape", "_reshape_alias", "t", "transpose", "permute", "expand",
         "slice", "select", "unsqueeze", "squeeze", "detach", "clone", "alias", "as_strided", "contiguous", "copy", "copy_", "empty", "empty_like", "new_empty",
         "empty_strided", "new_empty_strided", "zeros", "ones", "zeros_like", "ones_like", "full", "full_like", "new_zeros", "new_ones", "new_full", "fill",
         "fill_", "zero_", "_to_copy", "cat", "stack", "split", "split_with_sizes", "chunk", "unbind", "index", "index_select", "gather", "embedding",
         "scatter", "index_put", "sort", "topk", "flip", "roll", "repeat", "tril", "triu", "diagonal", "diag_embed", "max_pool2d_with_indices",
         "max_pool3d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool1d", "max_pool2d", "cummax", "cummin", "constant_pad_nd",
         "reflection_pad2d", "replication_pad2d", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "unfold", "im2col", "lift_fresh", "lift_fresh_copy",
         "arange", "_local_scalar_dense", "unsafe_split", "unsafe_chunk", "movedim", "squeeze_", "unsqueeze_", "set_", "resize_", "ge", "gt", "le", "lt",
         "native_dropout", "dropout", "bernoulli", "bernoulli_", "uniform_", "normal_", "rand", "randn", "rand_like", "randn_like", "isnan", "isinf", "isfinite"}
# Of single elements: the largest error of CUDA's own implementation in units in the last place, and the size of the numbers
# as whose difference the function is commonly computed.
ONCE = {"add", "sub", "rsub", "mul", "square", "leaky_relu", "_prelu_kernel", "prelu", "softshrink", "add_", "sub_", "mul_"}
FUNCTIONS = {"sqrt": (1, 0), "reciprocal": (1, 0), "expm1": (1, 0), "log": (1, 0), "log2": (1, 0), "log1p": (1, 0), "div": (2, 0), "div_": (2, 0),
             "rsqrt": (2, 0), "exp": (2, 0), "exp2": (2, 0), "log10": (2, 0), "sin": (2, 0), "cos": (2, 0), "erf": (2, 0), "asin": (2, 0), "acos": (2, 0),
             "atan": (2, 0), "hypot": (3, 0), "atan2": (3, 0), "cosh": (3, 0), "tan": (4, 0), "erfc": (4, 0), "pow": (4, 0), "pow_": (4, 0),
             "sigmoid": (2, 0.5), "sigmoid_": (2, 0.5), "tanh": (2, 1), "tanh_": (2, 1), "sinh": (2, 1), "softplus": (3, 1), "elu": (3, 2), "elu_": (3, 2), "celu": (3, 2), "celu_": (3, 2)}
PRODUCTS = {"mm", "bmm", "mv", "dot", "vdot", "convolution", "_convolution", "addmm", "baddbmm", "addmv"}
# What they say is another number or another place wherever a constant is not the very same.
CHOOSING = {"eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"}
MEANS = {"sum", "mean", "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool3d",
         "adaptive_avg_pool1d", "upsample_bilinear2d", "upsample_linear1d", "upsample_trilinear3d", "upsample_nearest2d"}


RESAMPLED = {"upsample_linear1d": 1, "upsample_bilinear2d": 2, "upsample_trilinear3d": 3}   # by their spatial axes


def short(function):
    name = function.overloadpacket.__name__ if hasattr(function, "overloadpacket") else str(function)
    return name


def whole_numbers(tensors):
    return all(bool((each == each.round()).all()) for each in tensors)


def looks_at(tensor, most):
    """The magnitudes of finite elements, about `most` of them."""
    flat = tensor.reshape(-1)
    looks = flat[:: max(1, flat.numel() // most)].abs()
    return looks[torch.isfinite(looks)]


def sameness(tensor, apart=0.0):
    """How likely it is that two elements are the same number, or no further apart than this relative difference: then the same
    rounding happens to both. Zeros do not count, adding them is exact."""
    looks = looks_at(tensor, 256)
    seen = looks[looks != 0].sort().values
    count = looks.numel()
    if seen.numel() <= 8:
        return 0.0
    first = torch.searchsorted(seen, seen * (1 - apart))
    pairs = float((torch.arange(seen.numel(), device=seen.device) - first).sum())
    return 2 * pairs / (count * (count - 1))


def terms_of_product(left, right):
    """Products of elements drawn from each, with their signs."""
    generator = torch.Generator(device=left.device)
    generator.manual_seed(1)
    drawn = [each.reshape(-1)[torch.randint(0, each.numel(), (LOOKS,), generator=generator, device=each.device)] for each in (left, right)]
    terms = drawn[0] * drawn[1]
    return terms[torch.isfinite(terms)]


def drift(looks, total):
    """What rounding these numbers to the steps between floats as large as `total`, or as parts of it, comes to on average, squared and in
    units of that of a single one; 0 if no more than of random numbers."""
    if looks.numel() <= 8 or not 0 < total < math.inf:
        return 0.0
    step = 2.0 ** (math.floor(math.log2(total)) - 23)
    means = [float((torch.round(looks / grid) * grid - looks).mean()) for grid in (step, step / 2, step / 4, step / 8)]
    return min(1.0, max(0.0, 12 * max((mean / step) ** 2 for mean in means) - 4 / looks.numel()))


def over_neighbours(values):
    """The largest over each place's neighbours: results computed in tiles, as by Winograd, share errors."""
    pool = {3: torch.nn.functional.max_pool1d, 4: torch.nn.functional.max_pool2d, 5: torch.nn.functional.max_pool3d}.get(values.dim())
    return values if pool is None else pool(values, 3, 1, 1)


def changed(values, change):
    if isinstance(values, torch.Tensor):
        return change(values) if values.is_floating_point() else values
    if isinstance(values, (list, tuple)):
        return type(values)(changed(each, change) for each in values)
    return values


def rounded(value):
    """A real number as float32 has it, where it has one."""
    if not isinstance(value, float) or not SMALLEST_NORMAL <= abs(value) <= LARGEST:
        return value
    return struct.unpack("f", struct.pack("f", value))[0]


def tensors_of(values):
    if isinstance(values, torch.Tensor):
        return [values] if values.is_floating_point() else []
    return [each for value in values for each in tensors_of(value)] if isinstance(values, (list, tuple)) else []


def squares_of(function, args, kwargs, out):
    """The sums of the squared terms of a product that gives `out`. Nothing cancels in them, and sigma needs three digits: float32 will
    do, and TF32 where a GPU has it, unless one of them leaves its range."""
    with precision.flags("tf32"):
        quick = function(*changed(args, lambda tensor: tensor.square().float()), **kwargs)
    held = ((quick > QUICK_LEAST) & (quick < QUICK_MOST)).logical_or_((quick == 0) & (out == 0))   # not so of NaN
    return quick.double() if bool(held.all()) else function(*changed(args, torch.square), **kwargs)


def is_product(name, kwargs):
    return name in PRODUCTS and "out" not in kwargs


class Noting(TorchDispatchMode):
    """Disturbs nothing: notes the products of a run in double precision for those that are disturbed."""

    def __init__(self, known):
        super().__init__()
        self.known, self.products = known, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = function(*args, **kwargs)
        if is_product(short(function), kwargs):
            if out.dtype == torch.float64 and out.numel():
                self.known.keep(self.products, Product(function, args, kwargs, out.clone()))   # a module may change its own, and no version tells
            self.products += 1
        return out


class Rounding(TorchDispatchMode):
    """Disturbs every double-precision result by about its own sigma, up or down at random. `known`: products of earlier runs of the same."""

    weights = {}   # of sums and means, by what makes them

    def __init__(self, seed, run_class="fp32", stretch=1, known=None):
        super().__init__()
        self.seed, self.run_class, self.stretch, self.generators = seed, run_class, stretch, {}
        self.known, self.products, self.operations = known or KnownProducts(), 0, 0

    def repeated(self, name, like, looked):
        """`looked()` of an operation's terms in the first run: in a later one the numbers differ by their disturbances alone, and what was exact is so
        again. On a GPU a look takes as long as several operations, because its result is waited for."""
        key = self.operations, name, like.shape
        if key not in self.known.repeated:
            self.known.repeated[key] = looked()
        return self.known.repeated[key]

    def noise(self, like):
        """Of either sign, and of several sizes, whose mean square is 1 and with the run's stretch: numbers moved by the same size would keep their
        difference in every second run."""
        generator = self.generators.get(like.device)
        if generator is None:
            generator = self.generators[like.device] = torch.Generator(device=like.device)
            generator.manual_seed(self.seed)
        drawn = torch.empty(like.shape, dtype=torch.float32, device=like.device).uniform_(-SIZES * self.stretch, SIZES * self.stretch, generator=generator)
        return drawn.add_(drawn.sign(), alpha=LEAST_SIZE * self.stretch)

    def disturbed(self, out, sigma):
        """Up or down by about sigma, or by a multiple of it. Its sign does not matter and its memory is used. Large outputs take as long as
        their memory is read and written: hence in place."""
        sigma.nan_to_num_(0.0, 0.0, 0.0).add_(out.abs().clamp_(max=SMALLEST_NORMAL))
        return torch.addcmul(out, sigma, self.noise(out), out=sigma)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name, self.operations = short(function), self.operations + 1
        if name not in CHOOSING and tensors_of(args) and tensors_of(args)[0].dtype == torch.float64:   # a kernel in float32 has its constants so
            args, kwargs = tuple(rounded(each) for each in args), {key: rounded(each) for key, each in kwargs.items()}
        mode = kwargs.get("rounding_mode")
        formula = FORMULAS.get(f"{name}_{mode}" if mode else name)
        if name in SCALED and kwargs.get("alpha", 1) == 1:
            formula = None   # an operation of its own, rounded once
        if formula is not None and tensors_of(args) and tensors_of(args)[0].dtype == torch.float64:
            direct = function(*args, **kwargs)
            first = direct[0] if isinstance(direct, (tuple, list)) else direct
            with self:
                made = formula(*args, **{key: value for key, value in kwargs.items() if key != "rounding_mode"})
            made = made if isinstance(made, tuple) or made is None else (made,)
            if made is None or made[0].shape != first.shape:
                return direct
            return type(direct)(made + tuple(direct[len(made):])) if isinstance(direct, tuple) else made[0]
        if is_product(name, kwargs):
            return self.known_product(function, name, args, kwargs)
        out = function(*args, **kwargs)
        if name == "_to_copy" and out.dtype in SHORT and args[0].dtype == torch.float64:   # in float32 it may as well be left as it is
            return function(torch.addcmul(args[0], args[0], self.noise(args[0]), value=2 * RMS * SHORT[out.dtype]), *args[1:], **kwargs)
        if not isinstance(out, torch.Tensor) or out.dtype != torch.float64 or name in EXACT or out.numel() == 0:
            if name in SEVERAL and isinstance(out, (tuple, list)):
                return self.jostled(function, args, kwargs, out)
            return out
        moved = self.result(function, name, args, kwargs, out)
        if name.endswith("_") and not name.endswith("__") and isinstance(args[0], torch.Tensor):   # in place: the result is the operand
            return args[0].copy_(moved)
        return moved

    def result(self, function, name, args, kwargs, out):
        if name in ONCE:
            held = out == out.float()
            return self.disturbed(out, (RMS * UNIT * out).masked_fill_(held, 0))
        if name in FUNCTIONS:
            ulps, floor = FUNCTIONS[name]
            sigma = RMS * UNIT * (1 + ulps) * out
            return self.disturbed(out, sigma if floor == 0 else sigma.square_().add_((RMS * UNIT * floor) ** 2).sqrt_())
        if name in RESAMPLED:
            moved = resampled(RESAMPLED[name], self.placed, *args, *kwargs.values())
            out = moved if moved.shape == out.shape else out
        if name in MEANS:
            return self.linear(function, args, kwargs, out)
        if name == "cumsum":
            return self.scan(args[0], args[1], out)
        if name in ("prod", "cumprod"):
            terms = args[0].shape[args[1]] if len(args) > 1 and isinstance(args[1], int) and args[0].dim() else args[0].numel()
            return self.disturbed(out, RMS * UNIT * math.sqrt(2 * max(1, terms)) * out)
        if name == "logcumsumexp":   # each step rounds what all before it came to, and none of them counts more than once
            steps = torch.nan_to_num(out, 0.0, 0.0, 0.0).square().cumsum(args[1]).sqrt_()
            return self.disturbed(self.jostled(function, args, kwargs, out), steps.mul_(2 * RMS * UNIT))
        if name in SEVERAL:
            return self.jostled(function, args, kwargs, out)
        return self.disturbed(out, RMS * UNIT * 2 * out)

    def placed(self, numbers, scale):
        """Places among elements. Of a scale that is no float, which is rounded itself, each is rounded."""
        places = numbers * scale
        exact = scale == rounded(scale)
        return places if exact else torch.addcmul(places, 2 * RMS * UNIT * places, self.noise(places))

    def summed(self, out, squares, terms, repeated=0.0, operands=None):
        """The variance of a sum of `terms` terms whose squares add up to `squares`, accumulated in float32. `operands`: (Σ of the squares,
        relative error of rounding each factor of a term)."""
        own, terms = out.square(), min(terms, LONGEST)
        rounded = terms * (own / 3 + squares / 6) + squares + own
        if repeated > 0:
            rounded = rounded + repeated * (terms / 2) ** 2 * (own + squares)
        rounded.mul_((RMS * UNIT) ** 2)
        return rounded if operands is None else rounded.add_(operands[0], alpha=2 * (RMS * operands[1]) ** 2)

    def flushed(self, out, squares, terms, variance):
        """Adds what is lost where partial sums below SMALLEST_NORMAL are flushed to zero, as atomic sums are."""
        share = (SMALLEST_NORMAL / squares.sqrt()).clamp_(max=1)
        lost = torch.minimum(out.square().add_(squares), share.mul_(terms * SMALLEST_NORMAL ** 2))
        return variance.add_(lost.masked_fill_(squares == 0, 0))

    def known_product(self, function, name, args, kwargs):
        number, self.products = self.products, self.products + 1
        product = self.known.find(number, function, args, kwargs)
        if product is None:
            out = function(*args, **kwargs)
            if out.dtype != torch.float64 or out.numel() == 0:
                return out
            product = self.known.keep(number, Product(function, args, kwargs, out))
        if not product.has_sigma:
            product.has_sigma, product.sigma = True, self.of_product(function, name, args, kwargs, product.out)
        return product.out.clone() if product.sigma is None else self.disturbed(product.out, product.sigma.clone())

    def of_product(self, function, name, args, kwargs, out):
        """Its sigma; None where it is exact."""
        factors = [each for each in tensors_of(args) if each.dtype == torch.float64]
        with_bias = name in ("addmm", "baddbmm", "addmv")
        left = factors[1] if with_bias and len(factors) > 2 else factors[0]
        terms = factors[1][0].numel() if "convolution" in name and not args[6] else left.shape[-1]
        if "convolution" in name and args[6]:
            terms = factors[1].numel() // max(1, factors[1].shape[1])   # transposed: at most; stride thins them out
            terms = max(1, terms // max(1, math.prod(args[3])))
        squares_kwargs = {key: value for key, value in kwargs.items() if key not in ("alpha", "beta")}
        if kwargs and squares_kwargs != kwargs:
            squares_kwargs.update({key: kwargs[key] ** 2 for key in ("alpha", "beta") if key in kwargs})
        if self.repeated("whole", out, lambda: whole_numbers(factors)):
            sizes = function(*changed(args, torch.abs), **kwargs)
            if float(sizes.max()) < EXACT_BELOW:
                return None
        squares = squares_of(function, args, squares_kwargs, out)
        roundoff = precision.operand_roundoff(function, self.run_class)
        operands = (squares, roundoff) if roundoff > UNIT else None
        if "convolution" in name and math.prod(args[1].shape[2:]) > 1:
            squares = over_neighbours(self.mixed_taps(function, args, squares_kwargs, squares, out))
        apart = factors[-2:] if with_bias else factors[:2]

        def looked():
            alike = math.prod(sameness(each) for each in factors)
            if not all(each.numel() for each in apart):   # of an empty contraction nothing but a bias is left
                return alike
            # Where a few terms are far larger than all others, these are rounded to what is left of them beside such a sum.
            return max(alike, drift(terms_of_product(*apart), float(finite(out).abs().max()) * min(terms, LONGEST) / terms))

        variance = self.summed(out, squares, terms, self.repeated(name, out, looked), operands)
        return self.flushed(out, squares, terms, variance).sqrt_()

    def mixed_taps(self, function, args, kwargs, squares, out):
        """A convolution computed in tiles, as by Winograd, multiplies sums of inputs by sums of a kernel's taps: rounding then
        knows of each input and of the taps' mean square, not of which of them meet."""
        weight, transposed = args[1], args[6]
        axes = list(range(2, weight.dim()))
        if transposed or any(each != 1 for each in list(args[3]) + list(args[5])):
            return squares
        taps = weight.square().mean(axes, True).sqrt_().expand_as(weight)
        return torch.maximum(squares, squares_of(function, (args[0], taps, *args[2:]), kwargs, out))

    def linear(self, function, args, kwargs, out):
        values = args[0]
        weight = self.weight(function, values, args, kwargs)
        terms = max(1.0, values.numel() / out.numel()) if weight <= 1.5 else max(1.0, weight)
        if function.overloadpacket.__name__ in ("avg_pool1d", "avg_pool2d", "avg_pool3d"):
            kernel = args[1] if isinstance(args[1], (list, tuple)) else [args[1]]
            terms = max(1, math.prod(kernel) ** (1 if len(kernel) > 1 else int(function.overloadpacket.__name__[8])))
        whole = abs(weight - terms) < 0.5 and self.repeated("whole", values, lambda: whole_numbers([values]))
        if whole and float(function(values.abs(), *args[1:], **kwargs).max()) < EXACT_BELOW:
            return out   # a mean may be taken of what was divided first
        squares = function(values.square(), *args[1:], **kwargs).mul_(weight / terms)
        together = min(terms, LONGEST)

        def looked():
            largest = float(finite(out).abs().max()) / max(weight / terms, 1e-300) * together / terms
            return max(sameness(values, DISTURBED), drift(looks_at(values, LOOKS), largest))

        repeated = self.repeated("linear", values, looked)
        variance = self.flushed(out, squares, terms, self.summed(out, squares, terms, repeated))
        # Terms closer to each other than the step between floats of their sum's size.
        alike = squares / terms - (out / terms).square() < (2 * UNIT * together / terms * out).square()
        rest = (1 - repeated) * (RMS * UNIT * together / 2) ** 2
        return self.disturbed(out, torch.where(alike, variance + rest * (out.square() + squares), variance).sqrt_())

    def weight(self, function, values, args, kwargs):
        """What a sum of ones comes to: 1 for a mean."""
        key = str(function), tuple(values.shape), str(args[1:]), str(kwargs)
        if key not in self.weights:
            self.weights[key] = float(function(torch.ones_like(values), *args[1:], **kwargs).abs().max())
        return self.weights[key]

    def scan(self, values, dim, out):
        exact = self.repeated("whole", values, lambda: whole_numbers([values]))
        squares = out.square().cumsum(dim)
        shape = [1] * out.dim()
        shape[dim] = -1
        position = torch.arange(1, out.shape[dim] + 1, dtype=torch.float64, device=out.device).reshape(shape) if out.dim() else 1
        variance = squares + 4 * squares / position
        if (repeated := self.repeated("scan", values, lambda: sameness(values))) > 0:
            variance = variance + repeated * out.abs().cumsum(dim).square_()
        if exact:
            variance = torch.where(values.abs().cumsum(dim) < EXACT_BELOW, torch.zeros_like(variance), variance)
        return self.disturbed(out, variance.mul_((RMS * UNIT) ** 2).sqrt_())

    def jostled(self, function, args, kwargs, out):
        """Where no rule holds: operands moved as far as the roundings of the terms that meet in one result may amount to."""
        results = max(1, sum(each.numel() for each in tensors_of(out if isinstance(out, (tuple, list)) else [out])))
        operands = precision.operand_roundoff(function, self.run_class)

        def moved(tensor):
            if tensor.dtype != torch.float64:
                return tensor
            unit = RMS * UNIT * math.sqrt(1 + max(1.0, tensor.numel() / results) / 3)
            return (math.hypot(unit, RMS * operands if operands > UNIT else 0.0) * tensor).mul_(self.noise(tensor)).add_(tensor)

        return function(*changed(args, moved), **changed_values(kwargs, moved))


def changed_values(kwargs, change):
    return {key: changed(value, change) for key, value in kwargs.items()}


# With a factor for one operand, which is a product of its own.
SCALED = {"add", "sub"}
# Operations with several results, or with steps that no other rule sees.
SEVERAL = {"_cudnn_rnn", "miopen_rnn", "mkldnn_rnn_layer", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell", "logcumsumexp", "nll_loss_forward", "nll_loss2d_forward",
           "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention",
           "_scaled_dot_product_cudnn_attention", "_ctc_loss", "binary_cross_entropy", "grid_sampler_2d", "upsample_bicubic2d", "scatter_add", "index_add", "bilinear", "_trilinear", "_embedding_bag",
           "_embedding_bag_forward_only"}


def sigma_of(run, truth, runs, seed, run_class, goes_on, known=None, stretches=(1, STRETCH)):
    """The root mean square of what disturbed runs differ by, for each output in double precision, and the number of runs: at
    most `runs`, and no further one once `goes_on(number)` is False. `run()` gives the outputs. The runs are disturbed by each of
    `stretches` in turn, times as much, and their differences divided by that. The largest of these means counts: beside a threshold
    only the stretched runs cross it, and where results are bounded these differ by too little. `known`: products that the truth was made of."""
    totals = {stretch: [torch.zeros_like(each) if each.dtype == torch.float64 else torch.zeros(0) for each in truth] for stretch in stretches}
    counts = dict.fromkeys(totals, 0)
    number, known = 0, known or KnownProducts()
    while number < runs and goes_on(number):
        stretch = stretches[number % len(stretches)]
        with Rounding(seed + number, run_class, stretch, known):
            moved = run()
        for total, other, right in zip(totals[stretch], moved, truth):
            if right.dtype == torch.float64:
                off = (other.double() - right).nan_to_num_(0.0, 0.0, 0.0)
                total.addcmul_(off, off)
        counts[stretch] += 1
        number += 1
    sigma, *others = ([each.div_(max(1, counts[stretch]) * stretch ** 2).sqrt_() for each in totals[stretch]] for stretch in stretches)
    for other in others:
        sigma = [torch.maximum(one, more) if one.numel() else one for one, more in zip(sigma, other)]
    return sigma, number
