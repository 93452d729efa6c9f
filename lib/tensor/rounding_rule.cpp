// SPDX-License-Identifier: Apache-2.0
#include "tensor/rounding_rule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::tensor {
namespace {

using Kind = RoundingRule::Kind;

std::map<std::string, RoundingRule, std::less<>> make_rules() {
  std::map<std::string, RoundingRule, std::less<>> rules;
  const auto all = [&](const RoundingRule& rule, std::initializer_list<const char*> names) {
    for (const char* name : names) rules[name] = rule;
  };
  all({Kind::exact, 0, 0},
      {"constant", "neg", "abs", "sign", "copysign", "floor", "ceil", "round", "trunc", "frac", "relu", "relu6", "isnan", "isinf", "isfinite", "logical_not",
       "bitwise_not", "clamp", "hardtanh", "hardshrink", "threshold", "cast", "floor_divide", "fmod", "maximum", "minimum", "eq", "ne", "lt", "le",
       "gt", "ge", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "where", "amax", "amin", "argmax",
       "argmin", "any", "all", "cummax", "cummax_index", "cummin", "cummin_index", "sort", "argsort", "topk", "topk_index", "permute", "transpose",
       "reshape", "reshape_as", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "expand_as", "repeat", "repeat_interleave", "flip", "roll",
       "cat", "stack", "select", "slice", "narrow", "split", "chunk", "index", "gather", "scatter", "one_hot", "full", "full_like", "arange", "eye",
       "tril", "triu", "diag", "diagonal", "max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
       "adaptive_max_pool3d", "pad", "pixel_shuffle", "pixel_unshuffle"});
  all({Kind::function, 0, 0}, {"add", "sub", "mul", "square", "leaky_relu", "prelu", "softshrink"});
  all({Kind::function, 1, 0}, {"sqrt", "reciprocal", "expm1", "log", "log2", "log1p", "remainder", "linspace"});
  all({Kind::function, 2, 0}, {"div", "rsqrt", "exp", "exp2", "log10", "sin", "cos", "erf", "asin", "acos", "atan"});
  all({Kind::function, 3, 0}, {"hypot", "atan2", "cosh"});
  all({Kind::function, 4, 0}, {"tan", "erfc", "pow"});
  all({Kind::function, 2, 0.5}, {"sigmoid"});
  all({Kind::function, 2, 1}, {"tanh", "sinh"});
  all({Kind::function, 3, 1}, {"softplus", "logsigmoid"});
  all({Kind::function, 3, 2}, {"elu", "celu", "selu"});
  all({Kind::sum, 0, 0},
      {"sum", "mean", "matmul", "einsum", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "avg_pool1d",
       "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "scatter_add", "interpolate"});
  all({Kind::scan, 0, 0}, {"cumsum"});
  all({Kind::product, 0, 0}, {"prod", "cumprod"});
  all({Kind::composed, 0, 0},
      {"softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm", "var", "std", "norm",
       "scaled_dot_product_attention", "silu", "mish", "gelu", "softsign", "tanhshrink", "hardsigmoid", "hardswish", "glu", "lerp"});
  all({Kind::backward, 0, 0}, {"logcumsumexp", "local_response_norm", "cross_entropy", "nll_loss", "recurrence"});
  return rules;
}

std::int64_t extent(const Call& call, int operand, std::size_t axis) { return call.type(operand).shape.at(axis).values.front(); }

std::vector<int> first_axes(int from, int to) {
  std::vector<int> axes(static_cast<std::size_t>(std::max(0, to - from)));
  std::iota(axes.begin(), axes.end(), from);
  return axes;
}

std::string tuple(const std::vector<int>& axes) { return fmt::format("({},)", fmt::join(axes, ", ")); }

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("({},)", fmt::join(shape, ", ")); }

// The variance `v` of x about its mean `m` over `axes`, times count / divisor. The line is as exact as a variance in one pass
// about a point two deviations off the mean or about the first element, whichever is farther, and as Welford's, whose running
// mean is rounded at each step. The mean is as exact as one taken in such a pass, too.
std::string spread(const std::string& x, const std::vector<int>& axes, double factor) {
  std::string first = x;
  for (const int axis : axes) first = fmt::format("torch.narrow({}, {}, 0, 1)", first, axis);
  return fmt::format("f = {3}; m = torch.mean({0}, {1}, True); m = m + (f + torch.mean({0} - f, {1}, True) + torch.mean(-{0}, {1}, True)); c = {0} - m; a = torch.mean(c * c, {1}, True); "
                     "s = c + torch.maximum(2 * torch.sqrt(a), torch.abs(f - m)); o = torch.mean(s, {1}, True); "
                     "w = 2 * torch.mean(torch.abs(c), {1}, True) * (m * 1.4426950408889634 * 0.6931471805599453 - m); "
                     "v = torch.clamp(torch.mean(s * s, {1}, True) - o * o + w, 0) * {2:.17g}; ", x, tuple(axes), factor, first);
}

// x less its mean over `axes`, times the reciprocal root of its variance.
std::string normalized(const std::string& x, const std::vector<int>& axes, double eps) {
  return spread(x, axes, 1) + fmt::format("z = c * torch.rsqrt(v + {:.17g}); ", eps);
}

// " * weight + bias" for operands of one number for each channel, or of the normalized shape where `shape` is empty.
std::string affine(const Call& call, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto& [name, sign] : {std::pair("weight", '*'), std::pair("bias", '+')})
    if (call.index(name) >= 0) text += shape.empty() ? fmt::format(" {} {}", sign, name) : fmt::format(" {} torch.reshape({}, {})", sign, name, shape_text(shape));
  return text;
}

std::vector<std::int64_t> channels_shape(const Call& call) {
  std::vector<std::int64_t> shape(call.type(0).shape.size(), 1);
  if (shape.size() > 1) shape[1] = extent(call, 0, 1);
  return shape;
}

std::string grouped(const Call& call, std::int64_t groups) {
  std::vector<std::int64_t> shape;
  for (std::size_t axis = 0; axis < call.type(0).shape.size(); ++axis) shape.push_back(extent(call, 0, axis));
  return fmt::format("g = torch.reshape(input, ({}, {}, -1)); ", shape.at(0), groups) + normalized("g", {2}, call.number("eps")) +
         fmt::format("y = torch.reshape(z, {}){}", shape_text(shape), affine(call, channels_shape(call)));
}

std::string norm(const Call& call) {
  const std::vector<int> axes = call.axes("dim", rank(call.type(0)));
  const std::string over = axes.empty() ? "" : fmt::format(", {}, {}", tuple(axes), call.truth("keepdim") ? "True" : "False");
  const double p = call.word("p").empty() ? call.number("p") : 2;
  if (p == 2) return fmt::format("y = torch.sqrt(torch.sum(input * input{}))", over);
  if (p == 1) return fmt::format("y = torch.sum(torch.abs(input){})", over);
  if (std::isinf(p) || p <= 0) return "";
  return fmt::format("y = torch.pow(torch.sum(torch.pow(torch.abs(input), {0:.17g}){1}), {2:.17g})", p, over, 1 / p);
}

std::string variance(const Call& call, bool root) {
  const std::vector<int> axes = call.axes("dim", rank(call.type(0)));
  if (axes.empty()) return "";
  double count = 1;
  for (const int axis : axes) count *= static_cast<double>(extent(call, 0, static_cast<std::size_t>(axis)));
  const double divisor = count - call.number("correction");
  if (divisor <= 0) return "";
  const std::string of = root ? "torch.sqrt(v)" : "v";
  const std::string kept = call.truth("keepdim") ? of : fmt::format("torch.amax({}, {}, False)", of, tuple(axes));
  return spread("input", axes, count / divisor) + "y = " + kept;
}

std::string attention(const Call& call) {
  const std::size_t last = call.type(0).shape.size() - 1;
  const double scale = call.has("scale") ? call.number("scale") : 1 / std::sqrt(static_cast<double>(extent(call, 0, last)));
  std::string text = fmt::format("s = torch.matmul(query, torch.transpose(key, -2, -1)) * {:.17g}; ", scale);
  if (call.truth("is_causal")) {
    const std::int64_t rows = extent(call, 0, last - 1), columns = extent(call, 1, call.type(1).shape.size() - 2);
    text += fmt::format("s = torch.where(torch.tril(torch.ones(({}, {}))) == 1, s, -math.inf); ", rows, columns);
  } else if (const int mask = call.index("attn_mask"); mask >= 0) {
    text += call.type(mask).dtype == Dtype::bool_ ? "s = torch.where(attn_mask, s, -math.inf); " : "s = s + attn_mask; ";
  }
  return text + "y = torch.matmul(torch.softmax(s, -1), value)";
}

// exp by exp2 of arguments that were scaled and rounded first.
std::string softmax_parts(int axis) {
  return fmt::format("m = torch.amax(input, {0}, True); e = torch.exp((input * 1.4426950408889634 - m * 1.4426950408889634) * 0.6931471805599453); "
                     "t = torch.sum(e, {0}, True); ", axis);
}

}  // namespace

const RoundingRule* rounding_rule(std::string_view function) {
  static const auto rules = make_rules();
  const auto found = rules.find(function);
  return found == rules.end() ? nullptr : &found->second;
}

std::string rounding_body(const Call& call) {
  const std::string& name = call.node().function;
  const int dimensions = call.operands() == 0 ? 0 : rank(call.type(0));
  const auto axis = [&] { return call.axis("dim", dimensions); };
  if (name == "silu") return "y = input * torch.sigmoid(input)";
  if (name == "mish") return "y = input * torch.tanh(torch.nn.functional.softplus(input))";
  if (name == "softsign") return "y = input / (1 + torch.abs(input))";
  if (name == "tanhshrink") return "y = input - torch.tanh(input)";
  if (name == "hardsigmoid") return "y = torch.clamp(input * 0.16666666666666666 + 0.5, 0, 1)";
  if (name == "hardswish") return "y = input * torch.clamp(input * 0.16666666666666666 + 0.5, 0, 1)";
  if (name == "lerp") return "y = input + weight * (end - input)";
  if (name == "gelu") {
    return call.word("approximate") == "tanh" ? "y = 0.5 * input * (1 + torch.tanh(0.7978845608028654 * (input + 0.044715 * input * input * input)))"
                                              : "y = 0.5 * input * (1 + torch.erf(input * 0.7071067811865476))";
  }
  if (name == "glu") {
    const std::int64_t half = extent(call, 0, static_cast<std::size_t>(axis())) / 2;
    return fmt::format("y = torch.narrow(input, {0}, 0, {1}) * torch.sigmoid(torch.narrow(input, {0}, {1}, {1}))", axis(), half);
  }
  if (dimensions == 0) return "";
  if (name == "softmax") return softmax_parts(axis()) + "y = e / t";
  if (name == "log_softmax") return softmax_parts(axis()) + "y = (input - m) - torch.log(t)";
  if (name == "logsumexp") {
    const std::vector<int> axes = call.axes("dim", dimensions);
    const std::string line = fmt::format("m = torch.amax(input, {0}, True); t = torch.sum(torch.exp(input - m), {0}, True); r = m + torch.log(t); ", tuple(axes));
    if (call.truth("keepdim")) return line + "y = r";
    return line + fmt::format("y = torch.amax(r, {}, False)", tuple(axes));
  }
  if (name == "layer_norm" || name == "rms_norm") {
    const auto count = static_cast<int>(call.quantities("normalized_shape").size());
    const std::vector<int> axes = first_axes(dimensions - count, dimensions);
    if (name == "layer_norm") return normalized("input", axes, call.number("eps")) + "y = z" + affine(call, {});
    const double eps = call.has("eps") ? call.number("eps") : 0x1p-23;
    return fmt::format("y = input * torch.rsqrt(torch.mean(input * input, {}, True) + {:.17g}){}", tuple(axes), eps, affine(call, {}));
  }
  if (name == "group_norm") return grouped(call, call.integer("num_groups"));
  if (name == "instance_norm" && call.truth("use_input_stats") && dimensions > 2) return grouped(call, extent(call, 0, 1));
  if (name == "batch_norm" && dimensions > 1) {
    if (call.truth("training")) {
      std::vector<int> axes = first_axes(2, dimensions);
      axes.insert(axes.begin(), 0);
      return normalized("input", axes, call.number("eps")) + "y = z" + affine(call, channels_shape(call));
    }
    // What is the same for a whole channel is commonly taken together first: a factor and an addend, as PyTorch has them on the CPU.
    const std::string shape = shape_text(channels_shape(call));
    const auto channel = [&](const char* name, std::string_view without) {
      return call.index(name) >= 0 ? fmt::format("torch.reshape({}, {})", name, shape) : std::string(without);
    };
    const std::string factor = fmt::format("f = torch.rsqrt(torch.reshape(running_var, {}) + {:.17g})", shape, call.number("eps"));
    return fmt::format("{}{}; y = input * f + ({} - torch.reshape(running_mean, {}) * f)", factor, call.index("weight") >= 0 ? " * " + channel("weight", "") : "",
                       channel("bias", "0"), shape);
  }
  if (name == "var" || name == "std") return variance(call, name == "std");
  if (name == "norm") return norm(call);
  if (name == "scaled_dot_product_attention") return attention(call);
  return "";
}

}  // namespace cudal1::tensor
