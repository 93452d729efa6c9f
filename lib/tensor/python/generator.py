# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs, bit-equal to lib/tensor/generator.hpp. Needs numpy."""

import numpy as np

_NUMPY = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "int64": np.int64, "int32": np.int32,
          "int16": np.int16, "int8": np.int8, "uint8": np.uint8, "bool": np.bool_}


def philox(key, counter_low, counter_high):
    """Philox 4x32-10 for an array of 64-bit counters; four arrays of 32-bit words."""
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    low = np.asarray(counter_low, dtype=np.uint64)
    x, y = low & mask, low >> shift
    z = np.full_like(low, counter_high & 0xFFFFFFFF)
    w = np.full_like(low, counter_high >> 32)
    key0, key1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        product0, product1 = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x = (product1 >> shift) ^ y ^ np.uint64(key0)
        y = product1 & mask
        z = (product0 >> shift) ^ w ^ np.uint64(key1)
        w = product0 & mask
        key0, key1 = (key0 + 0x9E3779B9) & 0xFFFFFFFF, (key1 + 0xBB67AE85) & 0xFFFFFFFF
    return x, y, z, w


def normal_units(seed, stream, count):
    words = philox(seed, np.arange(count, dtype=np.uint64), stream)
    fields = np.uint64(1023)
    total = sum((word & fields) + (word >> np.uint64(10) & fields) + (word >> np.uint64(20) & fields) for word in words)
    rest = sum((word >> np.uint64(30)) << np.uint64(2 * i) for i, word in enumerate(words))
    return 2 * (256 * total.astype(np.int64) + rest.astype(np.int64)) - (2 * 256 * 6138 + 255)


def uniform_bits(seed, stream, count):
    x, y, z, w = philox(seed, np.arange((count + 1) // 2, dtype=np.uint64), stream)
    words = np.empty((len(x), 2), dtype=np.uint64)
    words[:, 0], words[:, 1] = y << np.uint64(32) | x, w << np.uint64(32) | z
    return words.reshape(-1)[:count]


def _multiply_high(a, width):
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1 = a & low, a >> shift
    b0, b1 = np.uint64(width & 0xFFFFFFFF), np.uint64(width >> 32)
    middle = a1 * b0 + (a0 * b0 >> shift)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> shift) + (other >> shift)


def bfloat16_bits(values):
    """float64 rounded once, to nearest even, to bfloat16; the bits as uint16. For finite values."""
    values = np.asarray(values, dtype=np.float64)
    fraction, exponent = np.frexp(np.abs(values))
    # The step of the eight significant bits, or that of the subnormal range.
    step = np.maximum(exponent - 8, -133)
    rounded = np.ldexp(np.rint(np.ldexp(np.abs(values), -step)), step)
    bits = (rounded.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return bits | (np.signbit(values).astype(np.uint16) << np.uint16(15))


def _encode(dtype, values):
    if dtype == "bfloat16":
        return bfloat16_bits(values)
    if dtype == "bool":
        return values != 0
    if dtype.startswith(("int", "uint")) and values.dtype == np.float64:
        values = values.astype(np.int64)
    return values.astype(_NUMPY[dtype])


def fill(dtype, kind, seed, stream, count, low=0.0, high=1.0):
    """`count` elements as a numpy array; bfloat16 comes as its bits in uint16."""
    if kind == "normal":
        return _encode(dtype, normal_units(seed, stream, count).astype(np.float64) * (1.0 / 524288.0))
    if kind == "uniform":
        u = (uniform_bits(seed, stream, count) >> np.uint64(11)).astype(np.float64) * (1.0 / 9007199254740992.0)
        values = np.float64(low) + (np.float64(high) - np.float64(low)) * u
        encoded, bound = _encode(dtype, values), _encode(dtype, np.array([high], dtype=np.float64))[0]
        if dtype == "float32":
            outside = encoded.astype(np.float64) >= high
        elif dtype in ("float16", "bfloat16"):
            outside = (encoded.view(np.uint16) == np.array([bound]).view(np.uint16)[0]) | (values >= high)
        else:
            outside = values >= high
        return np.where(outside, _encode(dtype, np.array([low], dtype=np.float64))[0], encoded).astype(encoded.dtype)
    if kind == "randint":
        width = int(high) - int(low)
        values = _multiply_high(uniform_bits(seed, stream, count), width).astype(np.int64) + np.int64(int(low))
    elif kind == "arange":
        values = np.arange(count, dtype=np.int64)
    else:
        values = np.full(count, {"zeros": 0, "ones": 1}[kind], dtype=np.int64)
    floating = dtype in ("float64", "float32", "float16", "bfloat16")
    return _encode(dtype, values.astype(np.float64) if floating else values)
