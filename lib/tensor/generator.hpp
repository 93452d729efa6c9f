// SPDX-License-Identifier: Apache-2.0
#pragma once

// The generator of seeded inputs. This one text is compiled for the host and, by NVRTC, for the device: it includes
// nothing, uses plain functions only, and every step is integer arithmetic or a single IEEE operation, so that both
// sides produce the same bits. lib/tensor/python/generator.py is its twin in numpy.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define CUDAL1_GENERATOR __device__ inline
#define CUDAL1_GENERATOR_MULTIPLY(a, b) __dmul_rn((a), (b))
#define CUDAL1_GENERATOR_ADD(a, b) __dadd_rn((a), (b))
#define CUDAL1_GENERATOR_BITS(x) static_cast<unsigned long long>(__double_as_longlong(x))
#define CUDAL1_GENERATOR_BITS32(x) __float_as_uint(x)
#else
// The build forbids contraction (-ffp-contract=off), so a product and a sum stay two operations here too.
#define CUDAL1_GENERATOR inline
#define CUDAL1_GENERATOR_MULTIPLY(a, b) ((a) * (b))
#define CUDAL1_GENERATOR_ADD(a, b) ((a) + (b))
#define CUDAL1_GENERATOR_BITS(x) __builtin_bit_cast(unsigned long long, (x))
#define CUDAL1_GENERATOR_BITS32(x) __builtin_bit_cast(unsigned int, (x))
#endif

namespace cudal1::tensor::generator {

// Philox 4x32-10: four words from a 64-bit key and a 128-bit counter. Salmon et al., SC 2011.
struct Block {
  unsigned int x, y, z, w;
};

CUDAL1_GENERATOR Block philox(unsigned long long key, unsigned long long counter_low,
                              unsigned long long counter_high) {
  unsigned int x = static_cast<unsigned int>(counter_low), y = static_cast<unsigned int>(counter_low >> 32);
  unsigned int z = static_cast<unsigned int>(counter_high), w = static_cast<unsigned int>(counter_high >> 32);
  unsigned int key0 = static_cast<unsigned int>(key), key1 = static_cast<unsigned int>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long product0 = 0xD2511F53ULL * x;
    const unsigned long long product1 = 0xCD9E8D57ULL * z;
    x = static_cast<unsigned int>(product1 >> 32) ^ y ^ key0;
    y = static_cast<unsigned int>(product1);
    z = static_cast<unsigned int>(product0 >> 32) ^ w ^ key1;
    w = static_cast<unsigned int>(product0);
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return {x, y, z, w};
}

// The sum of a word's three 10-bit fields.
CUDAL1_GENERATOR int three_fields(unsigned int word) {
  return static_cast<int>((word & 1023U) + ((word >> 10) & 1023U) + ((word >> 20) & 1023U));
}

// Element `index` of a standard normal stream, in units of 2^-19. Twelve uniform 10-bit integers have the variance of a
// normal in units of 2^-10; the block's eight remaining bits refine the step to 2^-18, so that a value fills a float's
// significand and an input that was quietly narrowed to fewer bits shows. |result| < 2^22: exact in float and double.
CUDAL1_GENERATOR int normal_units_of(Block b) {
  const int sum = three_fields(b.x) + three_fields(b.y) + three_fields(b.z) + three_fields(b.w);
  const int rest = static_cast<int>((b.x >> 30) | (b.y >> 30) << 2 | (b.z >> 30) << 4 | (b.w >> 30) << 6);
  return 2 * (256 * sum + rest) - (2 * 256 * 6138 + 255);
}
CUDAL1_GENERATOR int normal_units(unsigned long long seed, unsigned long long stream, unsigned long long index) {
  return normal_units_of(philox(seed, index, stream));
}
constexpr double normal_unit = 1.0 / 524288.0;

// 64 uniform bits for element `index` of the other distributions; a block serves two elements.
CUDAL1_GENERATOR unsigned long long uniform_bits(unsigned long long seed, unsigned long long stream,
                                                 unsigned long long index) {
  const Block b = philox(seed, index >> 1, stream);
  const unsigned int low = (index & 1) != 0 ? b.z : b.x, high = (index & 1) != 0 ? b.w : b.y;
  return static_cast<unsigned long long>(high) << 32 | low;
}

// low + (high - low) * u with u a multiple of 2^-53 in [0, 1): a difference, a product and a sum, each rounded once.
CUDAL1_GENERATOR double uniform(unsigned long long bits, double low, double high) {
  const double u = CUDAL1_GENERATOR_MULTIPLY(static_cast<double>(bits >> 11), 1.0 / 9007199254740992.0);
  return CUDAL1_GENERATOR_ADD(low, CUDAL1_GENERATOR_MULTIPLY(CUDAL1_GENERATOR_ADD(high, -low), u));
}

CUDAL1_GENERATOR unsigned long long multiply_high(unsigned long long a, unsigned long long b) {
  const unsigned long long a0 = a & 0xFFFFFFFFULL, a1 = a >> 32, b0 = b & 0xFFFFFFFFULL, b1 = b >> 32;
  const unsigned long long middle = a1 * b0 + (a0 * b0 >> 32);
  const unsigned long long other = a0 * b1 + (middle & 0xFFFFFFFFULL);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

// An integer in [low, high), low < high, by multiplying with the width and keeping the upper half.
CUDAL1_GENERATOR long long randint(unsigned long long bits, long long low, long long high) {
  const unsigned long long width = static_cast<unsigned long long>(high) - static_cast<unsigned long long>(low);
  return static_cast<long long>(static_cast<unsigned long long>(low) +
                                multiply_high(bits, width));
}

// A double rounded once, to nearest even, to `fraction` stored bits and `exponent` exponent bits (half: 10, 5;
// bfloat16: 7, 8), as the 16 bits that hold it.
CUDAL1_GENERATOR unsigned short narrow_bits(double value, int fraction, int exponent) {
  const unsigned long long bits = CUDAL1_GENERATOR_BITS(value);
  const unsigned int sign = static_cast<unsigned int>(bits >> 63) << 15;
  const int biased = static_cast<int>(bits >> 52 & 2047);
  unsigned long long significand = bits & 0xFFFFFFFFFFFFFULL;
  const unsigned int infinity = ((1U << exponent) - 1U) << fraction;
  if (biased == 2047)
    return static_cast<unsigned short>(sign | infinity | (significand != 0 ? 1U << (fraction - 1) : 0U));
  const int bias = (1 << (exponent - 1)) - 1;
  int power = biased - 1023 + bias;  // the target's biased exponent
  if (biased == 0) return static_cast<unsigned short>(sign);
  significand |= 0x10000000000000ULL;
  int drop = 52 - fraction;
  if (power <= 0) {
    drop += 1 - power;
    power = 0;
    if (drop > 60) return static_cast<unsigned short>(sign);
  }
  unsigned long long kept = significand >> drop;
  const unsigned long long rest = significand & ((1ULL << drop) - 1), half = 1ULL << (drop - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the significand raises the exponent by itself, because both lie side by side.
  unsigned long long result = power > 0 ? (static_cast<unsigned long long>(power - 1) << fraction) + kept : kept;
  if (result > infinity) result = infinity;
  return static_cast<unsigned short>(sign | static_cast<unsigned int>(result));
}

// Numbers of dtypes and of distributions, for a caller that passes them as integers (a device kernel): the order of
// the enumerations Dtype and Distribution::Kind.
enum { float64_id, float32_id, float16_id, bfloat16_id, int64_id, int32_id, int16_id, int8_id, uint8_id, bool_id };
enum { normal_id, uniform_id, randint_id, zeros_id, ones_id, arange_id };

// The bits of a real value in a dtype: rounded once to nearest even; integers are cut towards zero and wrap.
CUDAL1_GENERATOR unsigned long long encode(int dtype, double value) {
  switch (dtype) {
    case float64_id: return CUDAL1_GENERATOR_BITS(value);
    case float32_id: return CUDAL1_GENERATOR_BITS32(static_cast<float>(value));
    case float16_id: return narrow_bits(value, 10, 5);
    case bfloat16_id: return narrow_bits(value, 7, 8);
    case bool_id: return value != 0 ? 1U : 0U;
    default:  // what no 64-bit integer holds becomes the smallest one
      if (!(value > -9223372036854775808.0 && value < 9223372036854775808.0)) return 1ULL << 63;
      return static_cast<unsigned long long>(static_cast<long long>(value));
  }
}

CUDAL1_GENERATOR unsigned long long encode_integer(int dtype, long long value) {
  if (dtype == bool_id) return value != 0 ? 1U : 0U;
  if (dtype <= bfloat16_id) return encode(dtype, static_cast<double>(value));
  return static_cast<unsigned long long>(value);
}

// One element from its 64 uniform bits: kind uniform or randint.
CUDAL1_GENERATOR unsigned long long element_of(int dtype, int kind, unsigned long long random, double low, double high) {
  if (kind == randint_id)
    return encode_integer(dtype, randint(random, static_cast<long long>(low), static_cast<long long>(high)));
  // A value that rounding lifts to `high` is outside the half-open interval; it becomes `low`.
  const double value = uniform(random, low, high);
  if (dtype == float32_id && static_cast<double>(static_cast<float>(value)) >= high) return encode(dtype, low);
  const unsigned long long bits = encode(dtype, value);
  if ((dtype == float16_id || dtype == bfloat16_id) && bits == encode(dtype, high)) return encode(dtype, low);
  return value >= high ? encode(dtype, low) : bits;
}

// Element `index` as bits; the lowest size_of(dtype) bytes are what memory holds.
CUDAL1_GENERATOR unsigned long long element(int dtype, int kind, unsigned long long seed, unsigned long long stream,
                                            unsigned long long index, double low, double high) {
  switch (kind) {
    case normal_id:
      return encode(dtype, CUDAL1_GENERATOR_MULTIPLY(static_cast<double>(normal_units(seed, stream, index)),
                                                     normal_unit));
    case uniform_id:
    case randint_id: return element_of(dtype, kind, uniform_bits(seed, stream, index), low, high);
    case ones_id: return encode_integer(dtype, 1);
    case arange_id: return encode_integer(dtype, static_cast<long long>(index));
    default: return 0;
  }
}

}  // namespace cudal1::tensor::generator
