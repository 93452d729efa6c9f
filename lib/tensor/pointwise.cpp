// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::tensor {
namespace {

constexpr double pi = 3.14159265358979323846;

Type like_first(const Call& call) { return call.type(0); }

Type neg_type(const Call& call) {
  if (call.type(0).dtype == Dtype::bool_) throw Refusal("a truth value cannot be negated with -; use ~");
  return call.type(0);
}
Type real_first(const Call& call) { return {floating(call.type(0).dtype), call.type(0).shape}; }
Type truth_first(const Call& call) { return {Dtype::bool_, call.type(0).shape}; }

std::vector<const Shape*> shapes(const Call& call) {
  std::vector<const Shape*> result;
  for (int i = 0; i < call.operands(); ++i) result.push_back(&call.type(i).shape);
  return result;
}
std::vector<int> all_operands(const Call& call) {
  std::vector<int> result;
  for (int i = 0; i < call.operands(); ++i) result.push_back(i);
  return result;
}
Type joined(const Call& call) { return {promoted(call, all_operands(call)), broadcast(shapes(call))}; }
Type joined_real(const Call& call) {
  Type type = joined(call);
  type.dtype = floating(type.dtype);
  return type;
}
Type joined_truth(const Call& call) { return {Dtype::bool_, broadcast(shapes(call))}; }
Type joined_bits(const Call& call) {
  Type type = joined(call);
  if (is_floating(type.dtype)) throw Refusal("& | ^ and ~ need integers or truth values");
  return type;
}
Type where_type(const Call& call) { return {promoted(call, {1, 2}), broadcast(shapes(call))}; }
Type lerp_type(const Call& call) { return {floating(promoted(call, {0, 1})), broadcast(shapes(call))}; }
Type prelu_type(const Call& call) {
  const Shape& weight = call.type(1).shape;
  const bool one = weight.empty() || (weight.size() == 1 && is_one(weight[0]));
  if (!one && (weight.size() != 1 || rank(call.type(0)) < 2 || !(weight[0] == call.type(0).shape[1])))
    throw Refusal("the weight has one number, or one for each channel");
  return call.type(0);
}
Type glu_type(const Call& call) {
  Type type = call.type(0);
  const auto axis = static_cast<std::size_t>(call.axis("dim", rank(type)));
  if (type.shape.empty()) throw Refusal("the input needs a dimension to halve");
  for (const std::int64_t value : type.shape[axis].values)
    if (value % 2 != 0) throw Refusal("the dimension to halve is odd");
  type.shape[axis] = (Quantity::of(type.shape[axis]) / call.constant(2)).extent();
  return type;
}

template <auto function>
void map(const Evaluation& e) {
  const double* in = e.in[0]->values.data();
  double* out = e.out.values.data();
  parallel(e.threads, static_cast<std::int64_t>(e.out.values.size()), 65536, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) out[i] = function(in[i]);
  });
}

template <typename F>
void map_with(const Evaluation& e, F function) {
  const double* in = e.in[0]->values.data();
  double* out = e.out.values.data();
  parallel(e.threads, static_cast<std::int64_t>(e.out.values.size()), 65536, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) out[i] = function(in[i]);
  });
}

template <auto function>
void join(const Evaluation& e) {
  const Array &a = *e.in[0], &b = *e.in[1];
  const Extents sa = broadcast_strides(a.shape, e.out.shape), sb = broadcast_strides(b.shape, e.out.shape);
  const std::int64_t length = e.out.shape.empty() ? 1 : e.out.shape.back();
  const std::int64_t step_a = sa.empty() ? 0 : sa.back(), step_b = sb.empty() ? 0 : sb.back();
  for_rows(e.out.shape, {sa, sb}, e.threads, [&](std::int64_t row, const std::int64_t* at) {
    const double *x = a.values.data() + at[0], *y = b.values.data() + at[1];
    double* out = e.out.values.data() + row;
    for (std::int64_t i = 0; i < length; ++i) out[i] = function(x[i * step_a], y[i * step_b]);
  });
}

void where(const Evaluation& e) {
  std::vector<Extents> steps;
  for (const Array* in : e.in) steps.push_back(broadcast_strides(in->shape, e.out.shape));
  const std::int64_t length = e.out.shape.empty() ? 1 : e.out.shape.back();
  for_rows(e.out.shape, steps, e.threads, [&](std::int64_t row, const std::int64_t* at) {
    const auto value = [&](std::size_t k, std::int64_t i) {
      return e.in[k]->values[static_cast<std::size_t>(at[k] + (steps[k].empty() ? 0 : i * steps[k].back()))];
    };
    for (std::int64_t i = 0; i < length; ++i) e.out.values[static_cast<std::size_t>(row + i)] = value(0, i) != 0 ? value(1, i) : value(2, i);
  });
}

void lerp(const Evaluation& e) {
  std::vector<Extents> steps;
  for (const Array* in : e.in) steps.push_back(broadcast_strides(in->shape, e.out.shape));
  const std::int64_t length = e.out.shape.empty() ? 1 : e.out.shape.back();
  for_rows(e.out.shape, steps, e.threads, [&](std::int64_t row, const std::int64_t* at) {
    const auto value = [&](std::size_t k, std::int64_t i) {
      return e.in[k]->values[static_cast<std::size_t>(at[k] + (steps[k].empty() ? 0 : i * steps[k].back()))];
    };
    for (std::int64_t i = 0; i < length; ++i)
      e.out.values[static_cast<std::size_t>(row + i)] = value(0, i) + value(2, i) * (value(1, i) - value(0, i));
  });
}

void prelu(const Evaluation& e) {
  const Array &x = *e.in[0], &w = *e.in[1];
  const bool one = w.values.size() == 1;
  const Around channel(x.shape, x.shape.size() < 2 ? 0 : 1);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t c = one ? 0 : i / static_cast<std::size_t>(channel.inner) % static_cast<std::size_t>(channel.length);
    e.out.values[i] = x.values[i] >= 0 ? x.values[i] : w.values[c] * x.values[i];
  }
}

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double relu(double x) { return x > 0 || std::isnan(x) ? x : 0; }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

void glu(const Evaluation& e) {
  const int axis = e.call.axis("dim", static_cast<int>(e.in[0]->shape.size()));
  const Around to(e.out.shape, axis);
  const double* in = e.in[0]->values.data();
  for (std::int64_t outer = 0; outer < to.outer; ++outer)
    for (std::int64_t i = 0; i < to.length * to.inner; ++i) {
      const double* block = in + outer * 2 * to.length * to.inner;
      e.out.values[static_cast<std::size_t>(outer * to.length * to.inner + i)] = block[i] * sigmoid(block[to.length * to.inner + i]);
    }
}

// Python's remainder and floor division: the result follows the divisor's sign.
double remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double floor_divide(double a, double b) {
  if (b == 0) return a / b;
  const double whole = std::nearbyint((a - std::fmod(a, b)) / b);
  return remainder(a, b) != std::fmod(a, b) ? whole - 1 : whole;
}

std::int64_t bits(double value) { return std::abs(value) < 0x1p62 ? static_cast<std::int64_t>(value) : 0; }

void power(const Evaluation& e) {
  // The common integer exponents keep their exactness and speed.
  if (e.in[1]->values.size() == 1 && e.in[1]->values[0] == 2) return map_with(e, [](double x) { return x * x; });
  join<[](double a, double b) { return std::pow(a, b); }>(e);
}

void gelu(const Evaluation& e) {
  if (e.call.word("approximate") == "tanh")
    return map_with(e, [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x))); });
  map_with(e, [](double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); });
}

Type gelu_type(const Call& call) {
  if (call.word("approximate") != "none" && call.word("approximate") != "tanh") throw Refusal("approximate is 'none' or 'tanh'");
  return real_first(call);
}

void leaky_relu(const Evaluation& e) {
  map_with(e, [slope = e.call.number("negative_slope")](double x) { return x > 0 ? x : x * slope; });
}
void elu(const Evaluation& e) {
  map_with(e, [a = e.call.number("alpha")](double x) { return x > 0 ? x : a * std::expm1(x); });
}
void celu(const Evaluation& e) {
  map_with(e, [a = e.call.number("alpha")](double x) { return x > 0 ? x : a * std::expm1(x / a); });
}
void softplus_with(const Evaluation& e) {
  map_with(e, [beta = e.call.number("beta"), limit = e.call.number("threshold")](double x) {
    return x * beta > limit ? x : softplus(x * beta) / beta;
  });
}
void clamp(const Evaluation& e) {
  const double low = e.call.has("min") ? e.call.number("min") : -INFINITY, high = e.call.has("max") ? e.call.number("max") : INFINITY;
  map_with(e, [=](double x) { return std::isnan(x) ? x : std::min(std::max(x, low), high); });
}
Type clamp_type(const Call& call) {
  if (!call.has("min") && !call.has("max")) throw Refusal("neither min nor max is given");
  Type type = call.type(0);
  for (const char* bound : {"min", "max"})
    if (call.has(bound) && !is_floating(type.dtype))
      for (const Number& number : call.quantity(bound).values)
        if (number.real) type.dtype = Dtype::float32;
  return type;
}
void hardtanh(const Evaluation& e) {
  map_with(e, [low = e.call.number("min_val"), high = e.call.number("max_val")](double x) {
    return std::isnan(x) ? x : std::min(std::max(x, low), high);
  });
}
void hardshrink(const Evaluation& e) {
  map_with(e, [l = e.call.number("lambd")](double x) { return x >= -l && x <= l ? 0 : x; });
}
void softshrink(const Evaluation& e) {
  map_with(e, [l = e.call.number("lambd")](double x) { return x > l ? x - l : x < -l ? x + l : 0; });
}
void threshold(const Evaluation& e) {
  map_with(e, [t = e.call.number("threshold"), v = e.call.number("value")](double x) { return x <= t ? v : x; });
}

Type cast_type(const Call& call) { return {parse_dtype(call.word("dtype")).value_or(Dtype::float32), call.type(0).shape}; }
void cast(const Evaluation& e) {
  const Dtype to = e.out.dtype;
  // Inputs are exact doubles and float32 would only lose what y64 is there to keep; narrower types are asked for on purpose.
  if (to == Dtype::float64 || to == Dtype::float32) return map_with(e, [](double x) { return x; });
  map_with(e, [to](double x) {
    std::byte bytes[8];
    store(to, x, bytes);
    return load(to, bytes);
  });
}

constexpr Row unary(std::string_view signature, std::string_view spellings, void (*evaluate)(const Evaluation&), Type (*infer)(const Call&) = real_first) {
  return {signature, spellings, infer, evaluate};
}

const Row pointwise_table[] = {
  unary("neg(input)", "torch . torch.negative .negative", map<[](double x) { return -x; }>, neg_type),
  unary("abs(input)", "torch . torch.absolute .absolute", map<[](double x) { return std::abs(x); }>, like_first),
  unary("sign(input)", "torch . torch.sgn", map<[](double x) { return static_cast<double>((x > 0) - (x < 0)); }>, like_first),
  unary("square(input)", "torch .", map<[](double x) { return x * x; }>, like_first),
  unary("floor(input)", "torch .", map<[](double x) { return std::floor(x); }>, like_first),
  unary("ceil(input)", "torch .", map<[](double x) { return std::ceil(x); }>, like_first),
  unary("round(input)", "torch .", map<[](double x) { return std::nearbyint(x); }>, like_first),
  unary("trunc(input)", "torch . torch.fix", map<[](double x) { return std::trunc(x); }>, like_first),
  unary("frac(input)", "torch .", map<[](double x) { return x - std::trunc(x); }>, like_first),
  unary("exp(input)", "torch .", map<[](double x) { return std::exp(x); }>),
  unary("exp2(input)", "torch .", map<[](double x) { return std::exp2(x); }>),
  unary("expm1(input)", "torch .", map<[](double x) { return std::expm1(x); }>),
  unary("log(input)", "torch .", map<[](double x) { return std::log(x); }>),
  unary("log2(input)", "torch .", map<[](double x) { return std::log2(x); }>),
  unary("log10(input)", "torch .", map<[](double x) { return std::log10(x); }>),
  unary("log1p(input)", "torch .", map<[](double x) { return std::log1p(x); }>),
  unary("sqrt(input)", "torch .", map<[](double x) { return std::sqrt(x); }>),
  unary("rsqrt(input)", "torch .", map<[](double x) { return 1 / std::sqrt(x); }>),
  unary("reciprocal(input)", "torch .", map<[](double x) { return 1 / x; }>),
  unary("sin(input)", "torch .", map<[](double x) { return std::sin(x); }>),
  unary("cos(input)", "torch .", map<[](double x) { return std::cos(x); }>),
  unary("tan(input)", "torch .", map<[](double x) { return std::tan(x); }>),
  unary("asin(input)", "torch . torch.arcsin", map<[](double x) { return std::asin(x); }>),
  unary("acos(input)", "torch . torch.arccos", map<[](double x) { return std::acos(x); }>),
  unary("atan(input)", "torch . torch.arctan", map<[](double x) { return std::atan(x); }>),
  unary("sinh(input)", "torch .", map<[](double x) { return std::sinh(x); }>),
  unary("cosh(input)", "torch .", map<[](double x) { return std::cosh(x); }>),
  unary("tanh(input)", "torch F .", map<[](double x) { return std::tanh(x); }>),
  unary("erf(input)", "torch .", map<[](double x) { return std::erf(x); }>),
  unary("erfc(input)", "torch .", map<[](double x) { return std::erfc(x); }>),
  unary("sigmoid(input)", "torch F . torch.special.expit", map<sigmoid>),
  unary("logsigmoid(input)", "F .log_sigmoid", map<[](double x) { return -softplus(-x); }>),
  unary("relu(input)", "torch F .", map<relu>, like_first),
  unary("relu6(input)", "F", map<[](double x) { return std::min(relu(x), 6.0); }>, like_first),
  unary("silu(input)", "F", map<[](double x) { return x * sigmoid(x); }>),
  unary("mish(input)", "F", map<[](double x) { return x * std::tanh(softplus(x)); }>),
  unary("softsign(input)", "F", map<[](double x) { return x / (1 + std::abs(x)); }>),
  unary("tanhshrink(input)", "F", map<[](double x) { return x - std::tanh(x); }>),
  unary("hardsigmoid(input)", "F", map<[](double x) { return std::min(relu(x + 3), 6.0) / 6; }>),
  unary("hardswish(input)", "F", map<[](double x) { return x * (std::min(relu(x + 3), 6.0) / 6); }>),
  unary("selu(input)", "torch F",
        map<[](double x) { return 1.0507009873554804934193349852946 * (x > 0 ? x : 1.6732632423543772848170429916717 * std::expm1(x)); }>),
  unary("isnan(input)", "torch .", map<[](double x) { return std::isnan(x) ? 1.0 : 0.0; }>, truth_first),
  unary("isinf(input)", "torch .", map<[](double x) { return std::isinf(x) ? 1.0 : 0.0; }>, truth_first),
  unary("isfinite(input)", "torch .", map<[](double x) { return std::isfinite(x) ? 1.0 : 0.0; }>, truth_first),
  unary("logical_not(input)", "torch .", map<[](double x) { return x == 0 ? 1.0 : 0.0; }>, truth_first),
  {"bitwise_not(input)", "torch .", joined_bits,
   +[](const Evaluation& e) {
     if (e.out.dtype == Dtype::bool_) map<[](double x) { return x == 0 ? 1.0 : 0.0; }>(e);
     else if (e.out.dtype == Dtype::uint8) map<[](double x) { return 255 - x; }>(e);
     else map<[](double x) { return -1 - x; }>(e);
   }},
  unary("leaky_relu(input, negative_slope: number = 0.01)", "F", leaky_relu),
  unary("elu(input, alpha: number = 1.0)", "F", elu),
  unary("celu(input, alpha: number = 1.0)", "torch F", celu),
  unary("gelu(input, approximate: word = 'none')", "F", gelu, gelu_type),
  unary("softplus(input, beta: number = 1, threshold: number = 20)", "F", softplus_with),
  unary("clamp(input, min: number = None, max: number = None)", "", clamp, clamp_type),
  unary("hardtanh(input, min_val: number = -1.0, max_val: number = 1.0)", "F", hardtanh, like_first),
  unary("hardshrink(input, lambd: number = 0.5)", "F torch.hardshrink", hardshrink),
  unary("softshrink(input, lambd: number = 0.5)", "F", softshrink),
  unary("threshold(input, threshold: number, value: number)", "F torch F._threshold", threshold, like_first),
  unary("cast(input, dtype: dtype)", "", cast, cast_type),
  {"prelu(input, weight)", "torch F", prelu_type, prelu},
  {"glu(input, dim: int = -1)", "F", glu_type, glu},
  {"add(input, other)", "", joined, join<[](double a, double b) { return a + b; }>},
  {"sub(input, other)", "", joined, join<[](double a, double b) { return a - b; }>},
  {"mul(input, other)", "torch . torch.multiply .multiply", joined, join<[](double a, double b) { return a * b; }>},
  {"div(input, other)", "torch.true_divide", joined_real, join<[](double a, double b) { return a / b; }>},
  {"floor_divide(input, other)", "torch .", joined, join<floor_divide>},
  {"remainder(input, other)", "torch .", joined, join<remainder>},
  {"fmod(input, other)", "torch .", joined, join<[](double a, double b) { return std::fmod(a, b); }>},
  {"pow(input, exponent)", "torch .", joined, power},
  {"maximum(input, other)", "torch .", joined, join<[](double a, double b) { return std::isnan(a) || b < a ? a : b; }>},
  {"minimum(input, other)", "torch .", joined, join<[](double a, double b) { return std::isnan(a) || a < b ? a : b; }>},
  {"atan2(input, other)", "torch . torch.arctan2", joined_real, join<[](double a, double b) { return std::atan2(a, b); }>},
  {"copysign(input, other)", "torch .", joined_real, join<[](double a, double b) { return std::copysign(a, b); }>},
  {"hypot(input, other)", "torch .", joined_real, join<[](double a, double b) { return std::hypot(a, b); }>},
  {"eq(input, other)", "torch .", joined_truth, join<[](double a, double b) { return a == b ? 1.0 : 0.0; }>},
  {"ne(input, other)", "torch . torch.not_equal", joined_truth, join<[](double a, double b) { return a != b ? 1.0 : 0.0; }>},
  {"lt(input, other)", "torch . torch.less", joined_truth, join<[](double a, double b) { return a < b ? 1.0 : 0.0; }>},
  {"le(input, other)", "torch . torch.less_equal", joined_truth, join<[](double a, double b) { return a <= b ? 1.0 : 0.0; }>},
  {"gt(input, other)", "torch . torch.greater", joined_truth, join<[](double a, double b) { return b < a ? 1.0 : 0.0; }>},
  {"ge(input, other)", "torch . torch.greater_equal", joined_truth, join<[](double a, double b) { return b <= a ? 1.0 : 0.0; }>},
  {"logical_and(input, other)", "torch .", joined_truth, join<[](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }>},
  {"logical_or(input, other)", "torch .", joined_truth, join<[](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }>},
  {"logical_xor(input, other)", "torch .", joined_truth, join<[](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }>},
  {"bitwise_and(input, other)", "torch .", joined_bits, join<[](double a, double b) { return static_cast<double>(bits(a) & bits(b)); }>},
  {"bitwise_or(input, other)", "torch .", joined_bits, join<[](double a, double b) { return static_cast<double>(bits(a) | bits(b)); }>},
  {"bitwise_xor(input, other)", "torch .", joined_bits, join<[](double a, double b) { return static_cast<double>(bits(a) ^ bits(b)); }>},
  {"where(condition, input, other)", "torch", where_type, where},
  {"lerp(input, end, weight)", "torch .", lerp_type, lerp},
};

}  // namespace

std::vector<Row> pointwise_rows() { return {std::begin(pointwise_table), std::end(pointwise_table)}; }

}  // namespace cudal1::tensor
