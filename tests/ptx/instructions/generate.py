#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes table.tsv: one line for each instruction and type, with the inputs of 32 lanes and what PTX says comes out.

The results are computed here with integers and exact fractions, independently of the simulator. Columns: opcode, shape,
immediate operands, tolerance ("exact", "nan" where any NaN will do, a number of units in the last place, "a2^-20" for an
absolute error, "b2^-22" for an absolute or relative one), then 32 columns "in,in=out" in hexadecimal.

A shape has a letter for each result and operand: "4=44" takes two values of 4 bytes, p is a predicate ("4p=44" has one behind
the bar), @ a cell of memory, of which as a result its last content is meant. Braces make a vector operand."""
import math
import random
import struct
import sys
from fractions import Fraction

lines = []
rng = random.Random(7)


def mask(bits):
    return (1 << bits) - 1


def signed(v, bits):
    v &= mask(bits)
    return v - (1 << bits) if v >> (bits - 1) else v


def edge_integers(bits, count=32):
    fixed = [0, 1, mask(bits), 1 << (bits - 1), mask(bits - 1), 2, 3, 7]
    return (fixed + [rng.getrandbits(rng.choice([bits, bits, bits // 2, 4])) for _ in range(count)])


def case(opcode, shape, sources, function, tolerance="exact", immediates=()):
    """sources: a list of value lists, one for each operand; lanes take them at different strides."""
    lanes = []
    for lane in range(32):
        values = [source[(lane * (1 + 2 * k) + k * 5) % len(source)] for k, source in enumerate(sources)]
        lanes.append(",".join("%x" % v for v in values) + "=%x" % function(*values))
    lines.append("\t".join([opcode, shape, ",".join("%d" % i for i in immediates) or "-", tolerance] + lanes))


# ---- integers -----------------------------------------------------------------------------------------------------------
def integer_cases():
    for bits in (16, 32, 64):
        w = bits // 8
        e = lambda: edge_integers(bits)
        nonzero = [v or 3 for v in edge_integers(bits)]
        m = mask(bits)
        for s in "su":
            t = "%s%d" % (s, bits)
            val = (lambda v, b=bits: signed(v, b)) if s == "s" else (lambda v: v)
            case("add." + t, f"{w}={w}{w}", [e(), e()], lambda a, b: (a + b) & m)
            case("sub." + t, f"{w}={w}{w}", [e(), e()], lambda a, b: (a - b) & m)
            case("mul.lo." + t, f"{w}={w}{w}", [e(), e()], lambda a, b: (a * b) & m)
            case("mad.lo." + t, f"{w}={w}{w}{w}", [e(), e(), e()], lambda a, b, c: (a * b + c) & m)
            case("mul.hi." + t, f"{w}={w}{w}", [e(), e()], lambda a, b: (val(a) * val(b) >> bits) & m)
            case("mad.hi." + t, f"{w}={w}{w}{w}", [e(), e(), e()], lambda a, b, c: ((val(a) * val(b) >> bits) + c) & m)
            case("min." + t, f"{w}={w}{w}", [e(), e()], lambda a, b: min(val(a), val(b)) & m)
            case("max." + t, f"{w}={w}{w}", [e(), e()], lambda a, b: max(val(a), val(b)) & m)
            case("sad." + t, f"{w}={w}{w}{w}", [e(), e(), e()], lambda a, b, c: (c + abs(val(a) - val(b))) & m)
            quotient = lambda a, b: abs(val(a)) // abs(val(b)) * (1 if (val(a) < 0) == (val(b) < 0) else -1)
            case("div." + t, f"{w}={w}{w}", [e(), nonzero], lambda a, b: quotient(a, b) & m)
            case("rem." + t, f"{w}={w}{w}", [e(), nonzero], lambda a, b: (val(a) - quotient(a, b) * val(b)) & m)
            shifts = [0, 1, 5, bits - 1, bits, bits + 1, 200, 7]
            case("shr." + t, f"{w}={w}4", [e(), shifts], lambda a, n: (val(a) >> min(n, bits)) & m)
            for cmp, f in (("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b), ("lt", lambda a, b: a < b), ("le", lambda a, b: a <= b),
                           ("gt", lambda a, b: a > b), ("ge", lambda a, b: a >= b)):
                few = [0, 1, m, 1 << (bits - 1), mask(bits - 1), 5, 6]
                case(f"setp.{cmp}.{t}", f"p={w}{w}", [few, few[::-1] + [5]], lambda a, b: int(f(val(a), val(b))))
            if bits < 64:
                case("mul.wide." + t, f"{2*w}={w}{w}", [e(), e()], lambda a, b: (val(a) * val(b)) & mask(2 * bits))
                wide = edge_integers(2 * bits)
                case("mad.wide." + t, f"{2*w}={w}{w}{2*w}", [e(), e(), wide], lambda a, b, c: (val(a) * val(b) + c) & mask(2 * bits))
        for cmp, f in (("lo", lambda a, b: a < b), ("ls", lambda a, b: a <= b), ("hi", lambda a, b: a > b), ("hs", lambda a, b: a >= b)):
            case(f"setp.{cmp}.u{bits}", f"p={w}{w}", [e(), e()], lambda a, b: int(f(a, b)))
        case(f"abs.s{bits}", f"{w}={w}", [e()], lambda a: abs(signed(a, bits)) & m)
        case(f"neg.s{bits}", f"{w}={w}", [e()], lambda a: -a & m)
        b_ = f"b{bits}"
        case("and." + b_, f"{w}={w}{w}", [e(), e()], lambda a, b: a & b)
        case("or." + b_, f"{w}={w}{w}", [e(), e()], lambda a, b: a | b)
        case("xor." + b_, f"{w}={w}{w}", [e(), e()], lambda a, b: a ^ b)
        case("not." + b_, f"{w}={w}", [e()], lambda a: ~a & m)
        case("cnot." + b_, f"{w}={w}", [e()], lambda a: int(a == 0))
        case("shl." + b_, f"{w}={w}4", [e(), [0, 1, 5, bits - 1, bits, bits + 3, 1 << 31]], lambda a, n: (a << n) & m if n < bits else 0)
        case("mov." + b_, f"{w}={w}", [e()], lambda a: a)


def bit_cases():
    for bits in (32, 64):
        w, e = bits // 8, lambda: edge_integers(bits)
        case(f"popc.b{bits}", f"4={w}", [e()], lambda a: bin(a).count("1"))
        case(f"clz.b{bits}", f"4={w}", [e()], lambda a: bits - a.bit_length())
        case(f"brev.b{bits}", f"{w}={w}", [e()], lambda a: int(format(a, f"0{bits}b")[::-1], 2))
        for s in "su":
            def find(a):
                v = signed(a, bits)
                v = ~v if s == "s" and v < 0 else a
                return v.bit_length() - 1 if v else 0xffffffff
            case(f"bfind.{s}{bits}", f"4={w}", [e()], find)
            case(f"bfind.shiftamt.{s}{bits}", f"4={w}", [e()], lambda a: find(a) if find(a) == 0xffffffff else bits - 1 - find(a))
            def extract(a, b, c):
                pos, length, top = b & 255, c & 255, bits - 1
                sign = 0 if s == "u" or length == 0 else a >> min(pos + length - 1, top) & 1
                return sum((a >> pos + k & 1 if k < length and pos + k <= top else sign) << k for k in range(bits))
            case(f"bfe.{s}{bits}", f"{w}={w}44", [e(), [0, 1, 8, 31, 63, 200, 20], [0, 1, 8, 16, 32, 64, 255]], extract)
        def insert(a, b, c, d):
            pos, length = c & 255, d & 255
            for k in range(length):
                if pos + k < bits:
                    b = b & ~(1 << pos + k) | (a >> k & 1) << pos + k
            return b
        case(f"bfi.b{bits}", f"{w}={w}{w}44", [e(), e(), [0, 3, 8, 31, 40, 255], [0, 1, 8, 16, 32, 64]], insert)
    e = lambda: edge_integers(32)
    def permute(a, b, c):
        both = a | b << 32
        out = 0
        for k in range(4):
            s = c >> 4 * k & 15
            byte = both >> 8 * (s & 7) & 255
            out |= (255 * (byte >> 7) if s & 8 else byte) << 8 * k
        return out
    case("prmt.b32", "4=444", [e(), e(), [0x3210, 0x7654, 0x9f83, 0x0123, 0x4444, 0xffff]], permute)
    for lut in (0x80, 0x96, 0xe8, 0xca, 0x3c, 0xfe, 0x01):
        def logic(a, b, c):
            return sum((lut >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | c >> k & 1) & 1) << k for k in range(32))
        case("lop3.b32", "4=444", [e(), e(), e()], logic, immediates=(lut,))
    n = [0, 1, 8, 31, 32, 33, 63, 255]
    case("shf.l.wrap.b32", "4=444", [e(), e(), n], lambda a, b, c: ((b << 32 | a) << (c & 31)) >> 32 & mask(32))
    case("shf.r.wrap.b32", "4=444", [e(), e(), n], lambda a, b, c: (b << 32 | a) >> (c & 31) & mask(32))
    case("shf.l.clamp.b32", "4=444", [e(), e(), n], lambda a, b, c: ((b << 32 | a) << min(c, 32)) >> 32 & mask(32))
    case("shf.r.clamp.b32", "4=444", [e(), e(), n], lambda a, b, c: (b << 32 | a) >> min(c, 32) & mask(32))
    for x in "su":
        for y in "su":
            part = lambda v, k, s, n: signed(v >> n * k, n) if s == "s" else v >> n * k & mask(n)
            case(f"dp4a.{x}32.{y}32", "4=444", [e(), e(), e()], lambda a, b, c: (c + sum(part(a, k, x, 8) * part(b, k, y, 8) for k in range(4))) & mask(32))
            for half, shift in (("lo", 0), ("hi", 2)):
                case(f"dp2a.{half}.{x}32.{y}32", "4=444", [e(), e(), e()], lambda a, b, c: (c + sum(part(a, k, x, 16) * part(b, k + shift, y, 8) for k in range(2))) & mask(32))
    def nth_set(a, b, c):
        places = range(b, 32) if signed(c, 32) >= 0 else range(b, -1, -1)
        found = [k for k in places if a >> k & 1][:max(1, abs(signed(c, 32)))]
        return next((k for k in found if k == b), mask(32)) if c == 0 else found[-1] if len(found) == abs(signed(c, 32)) else mask(32)
    case("fns.b32", "4=444", [e(), [0, 1, 7, 16, 31], [0, 1, 2, 5, 32, mask(32), mask(32) - 1, mask(32) - 6]], nth_set)
    case("bmsk.clamp.b32", "4=44", [[0, 1, 8, 31, 32, 40], [0, 1, 8, 31, 32, 33, 99]], lambda a, b: sum(1 << k for k in range(32) if a <= k < a + b))
    case("add.sat.s32", "4=44", [e(), e()], lambda a, b: max(-2**31, min(2**31 - 1, signed(a, 32) + signed(b, 32))) & mask(32))
    case("sub.sat.s32", "4=44", [e(), e()], lambda a, b: max(-2**31, min(2**31 - 1, signed(a, 32) - signed(b, 32))) & mask(32))
    for s in "su":
        sub24 = lambda v: signed(v, 24) if s == "s" else v & mask(24)
        case(f"mul24.lo.{s}32", "4=44", [e(), e()], lambda a, b: sub24(a) * sub24(b) & mask(32))


def integer_conversions():
    for d in (8, 16, 32, 64):
        for ds in "su":
            for a in (8, 16, 32, 64):
                for as_ in "su":
                    val = lambda v: signed(v, a) if as_ == "s" else v
                    low, high = (-(1 << d - 1), (1 << d - 1) - 1) if ds == "s" else (0, mask(d))
                    case(f"cvt.{ds}{d}.{as_}{a}", f"{d//8}={a//8}", [edge_integers(a)], lambda v: val(v) & mask(d))
                    if a > d or (as_ != ds and a >= d):
                        case(f"cvt.sat.{ds}{d}.{as_}{a}", f"{d//8}={a//8}", [edge_integers(a)], lambda v: max(low, min(high, val(v))) & mask(d))


# ---- floats: bits of a format with E exponent and M mantissa bits ---------------------------------------------------------
class Format:
    def __init__(self, name, exponent, mantissa, nan):
        self.name, self.e, self.m, self.nan = name, exponent, mantissa, nan
        self.bits = 1 + exponent + mantissa
        self.bias = (1 << exponent - 1) - 1
        self.inf = mask(exponent) << mantissa
        self.sign = 1 << self.bits - 1
        self.largest = self.inf - 1

    def is_nan(self, v):
        return v & ~self.sign > self.inf

    def is_inf(self, v):
        return v & ~self.sign == self.inf

    def value(self, v):
        e, f = v >> self.m & mask(self.e), v & mask(self.m)
        magnitude = Fraction(f, 1) * Fraction(2) ** (1 - self.bias - self.m) if e == 0 else Fraction((1 << self.m) + f) * Fraction(2) ** (e - self.bias - self.m)
        return -magnitude if v & self.sign else magnitude

    def round(self, x, mode="rn", zero_sign=0):
        if x == 0:
            return self.sign if zero_sign else 0
        negative, x = x < 0, abs(x)
        sign = self.sign if negative else 0
        # the exponent of the leading bit
        e = x.numerator.bit_length() - x.denominator.bit_length()
        if x < Fraction(2) ** e:
            e -= 1
        e = max(e, 1 - self.bias)
        unit = Fraction(2) ** (e - self.m)
        q = x / unit
        whole = q.numerator // q.denominator
        rest = q - whole
        up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1), "rz": False,
              "rm": negative and rest > 0, "rp": not negative and rest > 0}[mode]
        whole += bool(up)
        bits = whole + ((e + self.bias - 1) << self.m)
        if bits >= self.inf:
            stays = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
            # a finite value that rounds past the end
            bits = self.largest if stays else self.inf
        return sign | bits

    def flush(self, v):
        return v & self.sign if v & self.inf == 0 else v

    def samples(self):
        one = self.bias << self.m
        fixed = [0, self.sign, one, one | self.sign, self.inf, self.inf | self.sign, self.nan, 1, mask(self.m), 1 << self.m, self.largest,
                 self.largest | self.sign, one + 1, (self.bias + 1) << self.m, self.sign | 3, (self.bias - 1) << self.m]
        return fixed + [(rng.getrandbits(1) << self.bits - 1) | ((self.bias + rng.randint(-6, 6)) << self.m) | rng.getrandbits(self.m) for _ in range(33)]


F16, BF16, F32, F64 = Format("f16", 5, 10, 0x7fff), Format("bf16", 8, 7, 0x7fff), Format("f32", 8, 23, 0x7fffffff), Format("f64", 11, 52, 0x7ff8000000000000)


def add_bits(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        if f.is_inf(a) and f.is_inf(b) and a != b:
            return f.nan
        return a if f.is_inf(a) else b
    total = f.value(a) + f.value(b)
    both = a & f.sign and b & f.sign
    cancel = total == 0 and not (a & f.sign and b & f.sign) and (a & f.sign) != (b & f.sign)
    return f.round(total, mode, zero_sign=both or (cancel and mode == "rm"))


def mul_bits(f, a, b, mode="rn"):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        return f.nan if f.value(a & ~f.sign) == 0 or f.value(b & ~f.sign) == 0 else sign | f.inf
    return f.round(f.value(a) * f.value(b), mode, zero_sign=sign)


def fma_bits(f, a, b, c, mode="rn"):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return f.nan
    if f.is_inf(a) or f.is_inf(b):
        if a & ~f.sign == 0 or b & ~f.sign == 0:
            return f.nan
        return f.nan if f.is_inf(c) and c & f.sign != sign else sign | f.inf
    if f.is_inf(c):
        return c
    total = f.value(a) * f.value(b) + f.value(c)
    product_negative, c_negative = bool(sign), bool(c & f.sign)
    zero_sign = product_negative if product_negative == c_negative else mode == "rm"
    return f.round(total, mode, zero_sign=zero_sign)


def div_bits(f, a, b, mode="rn"):
    sign = (a ^ b) & f.sign
    zero = lambda v: v & ~f.sign == 0
    if f.is_nan(a) or f.is_nan(b) or (zero(a) and zero(b)) or (f.is_inf(a) and f.is_inf(b)):
        return f.nan
    if f.is_inf(a) or zero(b):
        return sign | f.inf
    if f.is_inf(b):
        return sign
    return f.round(f.value(a) / f.value(b), mode, zero_sign=sign)


def sqrt_bits(f, a, mode="rn"):
    if f.is_nan(a):
        return f.nan
    if a & ~f.sign == 0:
        return a
    if a & f.sign:
        return f.nan
    if f.is_inf(a):
        return a
    x = f.value(a)
    # enough bits below the last one, and a sticky bit
    shift = 2 * (f.m + 40)
    scale = 0
    while x * Fraction(4) ** scale < 1:
        scale += 16
    y = x * Fraction(4) ** scale * (1 << shift)
    root = math.isqrt(y.numerator // y.denominator)
    exact = Fraction(root * root) == y
    r = Fraction(root if exact else 2 * root + 1, 1 if exact else 2) / (1 << shift // 2) / Fraction(2) ** scale
    return f.round(r, mode)


def order(f, a, b):
    x, y = (f.value(v) if not f.is_inf(v) else (Fraction(10) ** 400 * (-1 if v & f.sign else 1)) for v in (a, b))
    return (x > y) - (x < y)


def extreme_bits(f, a, b, least, propagate=False):
    if f.is_nan(a) and f.is_nan(b):
        return f.nan
    if f.is_nan(a) or f.is_nan(b):
        return f.nan if propagate else (b if f.is_nan(a) else a)
    o = order(f, a, b)
    if o == 0:
        return (a | b) if least else (a & b)
    return a if (o < 0) == least else b


def saturate_bits(f, v):
    one = f.bias << f.m
    if f.is_nan(v) or v & f.sign or v & ~f.sign == 0:
        return 0
    return one if v > one else v


def float_cases():
    for f in (F32, F64):
        w, t, s = f.bits // 8, f.name, f.samples()
        # NaN results of f64 keep an operand's payload on some hardware: only inputs without NaN are exact there
        s = s if f is F32 else [v for v in s if not f.is_nan(v)]
        big = [v for v in s]
        clean = lambda g: (lambda *v: g(*v))
        for mode in ("rn", "rz", "rm", "rp"):
            nan_free = s if f is F32 else s
            case(f"add.{mode}.{t}", f"{w}={w}{w}", [s, big], lambda a, b: add_bits(f, a, b, mode), "nan")
            case(f"sub.{mode}.{t}", f"{w}={w}{w}", [s, big], lambda a, b: add_bits(f, a, b ^ f.sign if not f.is_nan(b) else b, mode), "nan")
            case(f"mul.{mode}.{t}", f"{w}={w}{w}", [s, big], lambda a, b: mul_bits(f, a, b, mode), "nan")
            case(f"fma.{mode}.{t}", f"{w}={w}{w}{w}", [s, big, s], lambda a, b, c: fma_bits(f, a, b, c, mode), "nan")
            case(f"div.{mode}.{t}", f"{w}={w}{w}", [s, big], lambda a, b: div_bits(f, a, b, mode), "nan")
            case(f"rcp.{mode}.{t}", f"{w}={w}", [s], lambda a: div_bits(f, f.bias << f.m, a, mode), "nan")
            case(f"sqrt.{mode}.{t}", f"{w}={w}", [s], lambda a: sqrt_bits(f, a, mode), "nan")
        for name in ("min", "max"):
            case(f"{name}.{t}", f"{w}={w}{w}", [s, s], lambda a, b: extreme_bits(f, a, b, name == "min"), "nan")
        case(f"copysign.{t}", f"{w}={w}{w}", [s, s], lambda a, b: a & f.sign | b & ~f.sign)
        finite = [v for v in s if not f.is_nan(v)]
        case(f"neg.{t}", f"{w}={w}", [finite], lambda a: a ^ f.sign, "nan")
        case(f"abs.{t}", f"{w}={w}", [finite], lambda a: a & ~f.sign, "nan")
    s, f = F32.samples(), F32
    for name in ("min", "max"):
        case(f"{name}.NaN.f32", "4=44", [s, s], lambda a, b: extreme_bits(f, a, b, name == "min", True))
        case(f"{name}.ftz.f32", "4=44", [s, s], lambda a, b: extreme_bits(f, f.flush(a), f.flush(b), name == "min"))
    z = f.flush
    case("add.ftz.f32", "4=44", [s, s], lambda a, b: z(add_bits(f, z(a), z(b))))
    case("sub.ftz.f32", "4=44", [s, s], lambda a, b: z(add_bits(f, z(a), z(b) ^ f.sign if not f.is_nan(b) else b)))
    case("mul.ftz.f32", "4=44", [s, s], lambda a, b: z(mul_bits(f, z(a), z(b))))
    case("fma.rn.ftz.f32", "4=444", [s, s, s], lambda a, b, c: z(fma_bits(f, z(a), z(b), z(c))))
    case("div.rn.ftz.f32", "4=44", [s, s], lambda a, b: z(div_bits(f, z(a), z(b))))
    case("add.rz.ftz.f32", "4=44", [s, s], lambda a, b: z(add_bits(f, z(a), z(b), "rz")))
    case("add.sat.f32", "4=44", [s, s], lambda a, b: saturate_bits(f, add_bits(f, a, b)))
    case("mul.sat.f32", "4=44", [s, s], lambda a, b: saturate_bits(f, mul_bits(f, a, b)))
    case("fma.rn.sat.f32", "4=444", [s, s, s], lambda a, b, c: saturate_bits(f, fma_bits(f, a, b, c)))
    case("cvt.sat.f32.f32", "4=4", [s], lambda a: saturate_bits(f, a))
    for f, tail in ((F32, ""), (F32, ".ftz"), (F64, ""), (F16, ""), (BF16, "")):
        s, w = f.samples()[:20], f.bits // 8
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            def compare(a, b):
                if tail:
                    a, b = f.flush(a), f.flush(b)
                unordered = f.is_nan(a) or f.is_nan(b)
                if name in ("num", "nan"):
                    return int(unordered == (name == "nan"))
                if unordered:
                    return int(name.endswith("u"))
                o = order(f, a, b)
                return int({"eq": o == 0, "ne": o != 0, "lt": o < 0, "le": o <= 0, "gt": o > 0, "ge": o >= 0}[name[:2]])
            case(f"setp.{name}{tail}.{f.name}", f"p={w}{w}", [s, s], compare)


def half_cases():
    for f in (F16, BF16):
        s, t = f.samples(), f.name
        case(f"add.{t}" if f is F16 else f"add.rn.{t}", "2=22", [s, s], lambda a, b: add_bits(f, a, b))
        case(f"sub.{t}" if f is F16 else f"sub.rn.{t}", "2=22", [s, s], lambda a, b: add_bits(f, a, b ^ f.sign if not f.is_nan(b) else b))
        case(f"mul.{t}" if f is F16 else f"mul.rn.{t}", "2=22", [s, s], lambda a, b: mul_bits(f, a, b))
        case(f"fma.rn.{t}", "2=222", [s, s, s], lambda a, b, c: fma_bits(f, a, b, c))
        for name in ("min", "max"):
            case(f"{name}.{t}", "2=22", [s, s], lambda a, b: extreme_bits(f, a, b, name == "min"))
            case(f"{name}.NaN.{t}", "2=22", [s, s], lambda a, b: extreme_bits(f, a, b, name == "min", True))
        finite = [v for v in s if not f.is_nan(v)]
        case(f"neg.{t}", "2=2", [finite], lambda a: a ^ f.sign, "nan")
        case(f"abs.{t}", "2=2", [finite], lambda a: a & ~f.sign, "nan")
        pairs = lambda: [a | b << 16 for a, b in zip(s, s[3:] + s[:3])]
        def each(g):
            return lambda *v: g(*[x & 0xffff for x in v]) | g(*[x >> 16 for x in v]) << 16
        case(f"add.{t}x2" if f is F16 else f"add.rn.{t}x2", "4=44", [pairs(), pairs()], each(lambda a, b: add_bits(f, a, b)))
        case(f"mul.{t}x2" if f is F16 else f"mul.rn.{t}x2", "4=44", [pairs(), pairs()], each(lambda a, b: mul_bits(f, a, b)))
        case(f"fma.rn.{t}x2", "4=444", [pairs(), pairs(), pairs()], each(lambda a, b, c: fma_bits(f, a, b, c)))
        case(f"min.{t}x2", "4=44", [pairs(), pairs()], each(lambda a, b: extreme_bits(f, a, b, True)))
        case(f"max.{t}x2", "4=44", [pairs(), pairs()], each(lambda a, b: extreme_bits(f, a, b, False)))
    s = F16.samples()
    case("add.sat.f16", "2=22", [s, s], lambda a, b: saturate_bits(F16, add_bits(F16, a, b)))
    case("add.ftz.f16", "2=22", [s, s], lambda a, b: F16.flush(add_bits(F16, F16.flush(a), F16.flush(b))))
    case("fma.rn.relu.f16", "2=222", [s, s, s], lambda a, b, c: (lambda r: r if F16.is_nan(r) else 0 if r & 0x8000 else r)(fma_bits(F16, a, b, c)))


def convert_float(a, into, v, mode="rn"):
    if a.is_nan(v):
        return into.nan
    if a.is_inf(v):
        return into.inf | (into.sign if v & a.sign else 0)
    return into.round(a.value(v), mode, zero_sign=v & a.sign)


def to_integer(f, v, mode, bits, is_signed):
    if f.is_nan(v):
        return 1 << bits - 1 if bits == 64 or f is F64 else 0
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, mask(bits))
    if f.is_inf(v):
        return (low if v & f.sign else high) & mask(bits)
    x = f.value(v)
    n = {"rni": lambda: round(x), "rzi": lambda: math.trunc(x), "rmi": lambda: math.floor(x), "rpi": lambda: math.ceil(x)}[mode]()
    return max(low, min(high, n)) & mask(bits)


def conversion_cases():
    for f in (F32, F64, F16):
        w = f.bits // 8
        s = f.samples() + [f.round(Fraction(n, 2)) for n in (1, 3, 5, -1, -3, -5, 255, 511, 65535)] + [f.round(Fraction(n)) for n in (2**31, 2**31 - 1, -2**31, 2**32, 2**63, -2**63, 2**40)]
        s = s[::-1]
        for mode in ("rni", "rzi", "rmi", "rpi"):
            for bits in (8, 16, 32, 64):
                for sign in "su":
                    case(f"cvt.{mode}.{sign}{bits}.{f.name}", f"{bits//8}={w}", [s], lambda v: to_integer(f, v, mode, bits, sign == "s"))
        for bits in (8, 16, 32, 64):
            for sign in "su":
                for mode in (("rn", "rz", "rm", "rp") if f is not F16 and bits >= 32 else ("rn",)):
                    case(f"cvt.{mode}.{f.name}.{sign}{bits}", f"{w}={bits//8}", [edge_integers(bits)], lambda v: f.round(Fraction(signed(v, bits) if sign == "s" else v), mode))
    for mode in ("rni", "rzi", "rmi", "rpi"):
        for f in (F32, F64, F16):
            def integral(v):
                if f.is_nan(v) or f.is_inf(v):
                    return f.nan if f.is_nan(v) else v
                x = f.value(v)
                n = {"rni": lambda: round(x), "rzi": lambda: math.trunc(x), "rmi": lambda: math.floor(x), "rpi": lambda: math.ceil(x)}[mode]()
                return f.round(Fraction(n), zero_sign=v & f.sign)
            case(f"cvt.{mode}.{f.name}.{f.name}", f"{f.bits//8}={f.bits//8}", [f.samples()], integral, "nan")
    for mode in ("rn", "rz", "rm", "rp"):
        case(f"cvt.{mode}.f32.f64", "4=8", [F64.samples() + [F32.round(Fraction(1, 3)) << 29]], lambda v: convert_float(F64, F32, v, mode), "nan")
    case("cvt.f64.f32", "8=4", [[v for v in F32.samples() if not F32.is_nan(v)]], lambda v: convert_float(F32, F64, v))
    halves = [F32.round(F16.value(v) * (1 + Fraction(k, 4096))) for k, v in enumerate(F16.samples()) if not F16.is_nan(v) and not F16.is_inf(v)]
    for f in (F16, BF16):
        s = F32.samples() + halves
        case(f"cvt.rn.{f.name}.f32", "2=4", [s[::-1]], lambda v: convert_float(F32, f, v))
        case(f"cvt.rz.{f.name}.f32", "2=4", [s[::-1]], lambda v: convert_float(F32, f, v, "rz"))
        case(f"cvt.f32.{f.name}", "4=2", [f.samples()], lambda v: v << 16 if f is BF16 else convert_float(f, F32, v))
        case(f"cvt.rn.{f.name}x2.f32", "4=44", [s, s[::-1]], lambda a, b: convert_float(F32, f, b) | convert_float(F32, f, a) << 16)
    case("cvt.rna.tf32.f32", "4=4", [[v for v in F32.samples() if v & ~F32.sign < 0x7f000000]], lambda v: (v + 0x1000) & ~0x1fff & mask(32), "nan")


def real(v):
    return struct.unpack("<f", struct.pack("<I", v))[0]


def single(x):
    return F32.inf | (F32.sign if x < 0 else 0) if math.isinf(x) else F32.round(Fraction(x), zero_sign=math.copysign(1, x) < 0)


def approximate_cases():
    small = [single(x) for x in (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.25, -7.5, 10.0, -10.1, 0.001, -0.3, 20.0, -20.0, 100.5, -100.25, 126.0, -126.0, -140.0, 1e-6)]
    positive = [single(x) for x in (1.0, 2.0, 0.5, 3.0, 10.0, 1e-3, 1e3, 1e10, 1e-10, 7.0, 1.0000001, 0.99999994, 123.456, 1e-30, 1e30, 4.0)]
    angles = [single(x) for x in (0.0, 0.1, -0.1, 0.5, 1.0, -1.0, 1.5, 2.0, -2.0, 3.0, -3.0, 3.1415926, 0.7853982, 1.5707964)]
    def exp2(x):
        return 2.0 ** x if x > -1080 else 0.0
    case("ex2.approx.f32", "4=4", [small], lambda v: single(exp2(real(v))), "4")
    case("ex2.approx.ftz.f32", "4=4", [small], lambda v: F32.flush(single(exp2(real(F32.flush(v))))), "4")
    case("lg2.approx.f32", "4=4", [positive], lambda v: single(math.log2(real(v))), "b2^-22")
    case("rcp.approx.ftz.f32", "4=4", [positive], lambda v: single(1 / real(v)), "1")
    case("rcp.approx.f32", "4=4", [positive], lambda v: single(1 / real(v)), "1")
    case("sqrt.approx.f32", "4=4", [positive], lambda v: single(math.sqrt(real(v))), "2")
    case("rsqrt.approx.f32", "4=4", [positive], lambda v: single(1 / math.sqrt(real(v))), "2")
    case("rsqrt.approx.ftz.f32", "4=4", [positive], lambda v: single(1 / math.sqrt(real(v))), "2")
    case("sin.approx.f32", "4=4", [angles], lambda v: single(math.sin(real(v))), "a2^-20")
    case("cos.approx.f32", "4=4", [angles], lambda v: single(math.cos(real(v))), "a2^-20")
    case("tanh.approx.f32", "4=4", [small + angles], lambda v: single(math.tanh(real(v))), "8192")
    case("div.approx.f32", "4=44", [small, positive], lambda a, b: single(real(a) / real(b)), "2")
    case("div.full.f32", "4=44", [small, positive], lambda a, b: single(real(a) / real(b)), "2")


# ---- across the lanes of a warp -------------------------------------------------------------------------------------------
def warp_case(opcode, shape, operands, results, immediates=()):
    """operands, results: a tuple for each lane."""
    lanes = [",".join("%x" % v for v in o) + "=" + ",".join("%x" % v for v in r) for o, r in zip(operands, results)]
    lines.append("\t".join([opcode, shape, ",".join("%d" % i for i in immediates) or "-", "exact"] + lanes))


def shuffle_cases():
    values = edge_integers(32)[:32]
    for mode in ("up", "down", "bfly", "idx"):
        for clamp in (0, 31) if mode == "up" else (31, 0x181f, 0x1c1f, 7):
            for steps in ([1] * 32, [16] * 32, [lane * 5 % 32 for lane in range(32)]):
                results = []
                for lane in range(32):
                    step, top, segment = steps[lane], clamp & 31, clamp >> 8 & 31
                    highest, lowest = (lane & segment) | (top & ~segment), lane & segment
                    source = {"up": lane - step, "down": lane + step, "bfly": lane ^ step, "idx": lowest | (step & ~segment)}[mode]
                    inside = source >= highest if mode == "up" else source <= highest
                    results.append((values[source if inside else lane], int(inside)))
                operands = list(zip(values, steps))
                warp_case(f"shfl.sync.{mode}.b32", "4p=44", operands, results, (clamp, -1))
                if steps[0] == 1:
                    warp_case(f"shfl.sync.{mode}.b32", "4=44", operands, [r[:1] for r in results], (clamp, -1))


def vote_cases():
    every = range(32)
    for votes in ([1] * 32, [0] * 32, [lane % 3 == 0 for lane in every], [lane == 31 for lane in every]):
        ballot = sum(int(v) << lane for lane, v in enumerate(votes))
        operands = [(int(v),) for v in votes]
        warp_case("vote.sync.ballot.b32", "4=p", operands, [(ballot,)] * 32, (-1,))
        warp_case("vote.sync.all.pred", "p=p", operands, [(int(all(votes)),)] * 32, (-1,))
        warp_case("vote.sync.any.pred", "p=p", operands, [(int(any(votes)),)] * 32, (-1,))
        warp_case("vote.sync.uni.pred", "p=p", operands, [(int(all(votes) or not any(votes)),)] * 32, (-1,))
    for bits in (32, 64):
        for values in ([7] * 32, [lane % 5 << bits - 8 for lane in every], list(every)):
            equal = [sum(int(w == v) << lane for lane, w in enumerate(values)) for v in values]
            same = int(len(set(values)) == 1)
            operands = [(v,) for v in values]
            warp_case(f"match.any.sync.b{bits}", f"4={bits//8}", operands, [(m,) for m in equal], (-1,))
            warp_case(f"match.all.sync.b{bits}", f"4p={bits//8}", operands, [(mask(32) * same, same)] * 32, (-1,))
    warp_case("activemask.b32", "4=", [()] * 32, [(mask(32),)] * 32)
    warp_case("elect.sync", "4p=", [()] * 32, [(0, int(lane == 0)) for lane in every], (-1,))
    values = edge_integers(32)[:32]
    operands, m = [(v,) for v in values], mask(32)
    from functools import reduce
    for name, f in (("add.u32", lambda a, b: a + b & m), ("add.s32", lambda a, b: a + b & m), ("min.u32", min), ("max.u32", max),
                    ("min.s32", lambda a, b: min(signed(a, 32), signed(b, 32)) & m), ("max.s32", lambda a, b: max(signed(a, 32), signed(b, 32)) & m),
                    ("and.b32", lambda a, b: a & b), ("or.b32", lambda a, b: a | b), ("xor.b32", lambda a, b: a ^ b)):
        for few in (operands, [(v | 5,) for v, in operands], [(v & 0x7fffffff,) for v, in operands]):
            warp_case("redux.sync." + name, "4=4", few, [(reduce(f, [v for v, in few]),)] * 32, (-1,))


# ---- read, modify, write ---------------------------------------------------------------------------------------------------
def atomic_cases():
    def atomic(operation, type_, width, sources, function, scopes=("",), forms=("atom", "red"), spaces=(".global", ".shared", ""), tolerance="exact"):
        letter = str(width)
        for space in spaces:
            for scope in scopes if space == ".global" else ("",):
                name = f"{scope}{space}.{operation}.{type_}"
                operands = "@" + letter * (len(sources) - 1)
                case("atom" + name, f"{letter}={operands}", sources, lambda m, *v: m, tolerance)
                case("atom" + name, f"@={operands}", sources, function, tolerance)
                if "red" in forms:
                    case("red" + name, f"@={operands}", sources, function, tolerance)

    scopes = ("", ".relaxed.cta", ".relaxed.gpu", ".relaxed.sys", ".acquire.gpu", ".release.gpu", ".acq_rel.gpu")
    for bits in (32, 64):
        w, m, e = bits // 8, mask(bits), lambda: edge_integers(bits)
        for op, f in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
            atomic(op, f"b{bits}", w, [e(), e()], f)
        atomic("exch", f"b{bits}", w, [e(), e()], lambda a, b: b, forms=("atom",))
        cells = [v % 5 for v in e()]
        atomic("cas", f"b{bits}", w, [cells, [0, 1, 2, 3, 4, 1, 2], e()], lambda a, b, c: c if a == b else a, forms=("atom",))
        for s in "su":
            val = lambda v: signed(v, bits) if s == "s" else v
            if s == "u" or bits == 32:
                atomic("add", f"{s}{bits}", w, [e(), e()], lambda a, b: a + b & m, scopes=scopes[:4] + (".release.gpu",))
                atomic("add", f"{s}{bits}", w, [e(), e()], lambda a, b: a + b & m, scopes=(".acquire.gpu", ".acq_rel.gpu"), forms=("atom",), spaces=(".global",))
            atomic("min", f"{s}{bits}", w, [e(), e()], lambda a, b: min(val(a), val(b)) & m)
            atomic("max", f"{s}{bits}", w, [e(), e()], lambda a, b: max(val(a), val(b)) & m)
    small = [0, 1, 2, 3, 7, 8, mask(32), 1 << 31]
    atomic("inc", "u32", 4, [small, [3, 0, 7, mask(32), 8]], lambda a, b: 0 if a >= b else a + 1)
    atomic("dec", "u32", 4, [small, [3, 0, 7, mask(32), 8]], lambda a, b: b if a == 0 or a > b else a - 1)
    atomic("cas", "b16", 2, [[v % 5 for v in edge_integers(16)], [0, 1, 2, 3, 4, 1, 2], edge_integers(16)], lambda a, b, c: c if a == b else a, forms=("atom",))
    # Atomic sums of f32 in global memory flush denormals; the samples hold none.
    for f, w in ((F32, 4), (F64, 8)):
        s = [v for v in f.samples() if not f.is_nan(v) and not f.is_inf(v) and (v & f.inf or v in (0, f.sign))]
        near = [v for v in s if abs((v >> f.m & mask(f.e)) - f.bias) < 20 or v == 0]
        atomic("add", f.name, w, [near, near], lambda a, b: add_bits(f, a, b), tolerance="nan" if f is F64 else "exact")
    for f in (F16, BF16):
        s = [v for v in f.samples() if not f.is_nan(v) and not f.is_inf(v)]
        near = [v for v in s if abs((v >> f.m & mask(f.e)) - f.bias) < 8]
        pairs = [a | b << 16 for a, b in zip(near, near[3:] + near[:3])]
        both = lambda a, b: add_bits(f, a & 0xffff, b & 0xffff) | add_bits(f, a >> 16, b >> 16) << 16
        atomic("add.noftz", f.name, 2, [near, near], lambda a, b: add_bits(f, a, b))
        atomic("add.noftz", f.name + "x2", 4, [pairs, pairs], both)


# ---- matrix products: small integers, so that every order of summation is exact ----------------------------------------------
def mma_case(opcode, m, n, k, a, b, c):
    """a, b, c: (encode, bytes of an element) of the factors and of the sums; the layouts are those of the PTX manual."""
    def cells(part, lane):
        g, t = lane // 4, lane % 4
        per = 4 // min(4, a[1])  # elements of A and B in a register
        if part == "a":
            rows, steps = (1 if m == 8 else 2), k // (4 * per)
            return [(g + 8 * r, 4 * per * s + per * t + e) for s in range(steps) for r in range(rows) for e in range(per)]
        if part == "b":
            return [(4 * per * s + per * t + e, g) for s in range(k // (4 * per)) for e in range(per)]
        return [(g + 8 * r, 2 * t + e) for r in range(1 if m == 8 else 2) for e in range(2)]

    def registers(values, encode, width):
        bits = [encode(v) for v in values]
        per = 4 // width if width < 4 else 1
        return [sum(v << 8 * width * i for i, v in enumerate(bits[at:at + per])) for at in range(0, len(bits), per)]

    low = 0 if ".u8" in opcode else -3
    A = [[rng.randint(low, 4) for _ in range(k)] for _ in range(m)]
    B = [[rng.randint(low, 4) for _ in range(n)] for _ in range(k)]
    C = [[rng.randint(-9, 9) for _ in range(n)] for _ in range(m)]
    D = [[C[i][j] + sum(A[i][x] * B[x][j] for x in range(k)) for j in range(n)] for i in range(m)]
    operands, results = [], []
    for lane in range(32):
        parts = [registers([M[r][q] for r, q in cells(part, lane)], *kind) for part, M, kind in (("a", A, a), ("b", B, b), ("c", C, c))]
        results.append(tuple(registers([D[r][q] for r, q in cells("c", lane)], *c)))
        operands.append(tuple(parts[0] + parts[1] + parts[2]))
    group = lambda registers, width: "{" + str(max(4, width)) * len(registers) + "}"
    shape = group(results[0], c[1]) + "=" + group(parts[0], a[1]) + group(parts[1], b[1]) + group(parts[2], c[1])
    warp_case(opcode, shape, operands, results)


def mma_cases():
    bits = lambda f: (lambda v: f.round(Fraction(v)))
    f16, bf16, f32, f64 = (bits(F16), 2), (bits(BF16), 2), (bits(F32), 4), (bits(F64), 8)
    s8, s32 = (lambda v: v & 255, 1), (lambda v: v & mask(32), 4)
    for k in (8, 16):
        for c, name in ((f32, "f32"), (f16, "f16")):
            mma_case(f"mma.sync.aligned.m16n8k{k}.row.col.{name}.f16.f16.{name}", 16, 8, k, f16, f16, c)
        mma_case(f"mma.sync.aligned.m16n8k{k}.row.col.f32.bf16.bf16.f32", 16, 8, k, bf16, bf16, f32)
    for k in (4, 8):
        mma_case(f"mma.sync.aligned.m16n8k{k}.row.col.f32.tf32.tf32.f32", 16, 8, k, f32, f32, f32)
    mma_case("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, f64, f64, f64)
    for k in (4, 8, 16):
        mma_case(f"mma.sync.aligned.m16n8k{k}.row.col.f64.f64.f64.f64", 16, 8, k, f64, f64, f64)
    for x in ("s8", "u8"):
        for y in ("s8", "u8"):
            for m, k in ((8, 16), (16, 16), (16, 32)):
                mma_case(f"mma.sync.aligned.m{m}n8k{k}.row.col.s32.{x}.{y}.s32", m, 8, k, s8, s8, s32)
                mma_case(f"mma.sync.aligned.m{m}n8k{k}.row.col.satfinite.s32.{x}.{y}.s32", m, 8, k, s8, s8, s32)


integer_cases()
bit_cases()
integer_conversions()
float_cases()
half_cases()
conversion_cases()
approximate_cases()
shuffle_cases()
vote_cases()
atomic_cases()
mma_cases()
sys.stdout.write("\n".join(lines) + "\n")
