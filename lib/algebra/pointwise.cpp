// SPDX-License-Identifier: Apache-2.0
#include "algebra/pointwise.hpp"

#include <algorithm>
#include <iterator>

namespace cudal1::algebra {
namespace {

// Written so that a NaN stays a NaN, as torch has it.
constexpr PointwiseFunction table[] = {
    {"identity", 1, "$0"},
    {"add", 2, "$0 + $1"},
    {"sub", 2, "$0 - $1"},
    {"mul", 2, "$0 * $1"},
    {"div", 2, "$0 / $1"},
    {"pow", 2, "pow($0, $1)", true},
    {"maximum", 2, "$0 > $1 || $0 != $0 ? $0 : $1"},
    {"minimum", 2, "$0 < $1 || $0 != $0 ? $0 : $1"},
    {"atan2", 2, "atan2($0, $1)", true},
    {"where", 3, "$0 ? $1 : $2"},
    {"eq", 2, "$0 == $1", false, true},
    {"ne", 2, "$0 != $1", false, true},
    {"lt", 2, "$0 < $1", false, true},
    {"le", 2, "$0 <= $1", false, true},
    {"gt", 2, "$0 > $1", false, true},
    {"ge", 2, "$0 >= $1", false, true},
    {"logical_and", 2, "$0 && $1", false, true},
    {"logical_or", 2, "$0 || $1", false, true},
    {"logical_xor", 2, "!$0 != !$1", false, true},
    {"isnan", 1, "$0 != $0", false, true},
    {"isinf", 1, "$0 == $0 && $0 - $0 != 0", false, true},
    {"isfinite", 1, "$0 - $0 == 0", false, true},
    {"bitwise_and", 2, "$0 & $1"},
    {"bitwise_or", 2, "$0 | $1"},
    {"bitwise_xor", 2, "$0 ^ $1"},
    {"bitwise_not", 1, "~$0"},
    {"hypot", 2, "hypot($0, $1)", true},
    {"copysign", 2, "copysign($0, $1)"},
    {"fmod", 2, "fmod($0, $1)", true},
    {"remainder", 2, "fmod($0, $1) != 0 && (fmod($0, $1) < 0) != ($1 < 0) ? fmod($0, $1) + $1 : fmod($0, $1)", true},
    {"floor_divide", 2, "$1 == 0 ? $0 / $1 : rint(($0 - fmod($0, $1)) / $1) - (fmod($0, $1) != 0 && (fmod($0, $1) < 0) != ($1 < 0) ? 1 : 0)", true},
    // Elements beyond a tensor's end are zeros, and divided all the same.
    {"fmod of integers", 2, "$0 % ($1 == 0 ? 1 : $1)"},
    {"remainder of integers", 2, "$0 % ($1 == 0 ? 1 : $1) + ($0 % ($1 == 0 ? 1 : $1) != 0 && ($0 < 0) != ($1 < 0) ? $1 : 0)"},
    {"floor_divide of integers", 2, "$0 / ($1 == 0 ? 1 : $1) - ($0 % ($1 == 0 ? 1 : $1) != 0 && ($0 < 0) != ($1 < 0) ? 1 : 0)"},
    {"logical_not", 1, "!$0", false, true},
    {"neg", 1, "-$0"},
    {"abs", 1, "$0 < 0 ? -$0 : $0"},
    {"square", 1, "$0 * $0"},
    {"sign", 1, "$0 > 0 ? 1 : $0 < 0 ? -1 : 0"},
    {"reciprocal", 1, "1 / $0"},
    {"exp", 1, "exp($0)", true},
    {"exp2", 1, "exp2($0)", true},
    {"expm1", 1, "expm1($0)", true},
    {"log", 1, "log($0)", true},
    {"log2", 1, "log2($0)", true},
    {"log10", 1, "log10($0)", true},
    {"log1p", 1, "log1p($0)", true},
    {"sqrt", 1, "sqrt($0)", true},
    {"rsqrt", 1, "rsqrt($0)", true},
    {"sin", 1, "sin($0)", true},
    {"cos", 1, "cos($0)", true},
    {"tan", 1, "tan($0)", true},
    {"asin", 1, "asin($0)", true},
    {"acos", 1, "acos($0)", true},
    {"atan", 1, "atan($0)", true},
    {"sinh", 1, "sinh($0)", true},
    {"cosh", 1, "cosh($0)", true},
    {"tanh", 1, "tanh($0)", true},
    {"erf", 1, "erf($0)", true},
    {"erfc", 1, "erfc($0)", true},
    {"floor", 1, "floor($0)"},
    {"ceil", 1, "ceil($0)"},
    {"round", 1, "rint($0)"},
    {"trunc", 1, "trunc($0)"},
    {"frac", 1, "$0 - trunc($0)"},
    {"relu", 1, "$0 < 0 ? 0 : $0"},
    {"relu6", 1, "$0 < 0 ? 0 : $0 > 6 ? 6 : $0"},
    {"sigmoid", 1, "1 / (1 + exp(-$0))", true},
    {"silu", 1, "$0 / (1 + exp(-$0))", true},
    {"softsign", 1, "$0 / (1 + ($0 < 0 ? -$0 : $0))"},
    {"logsigmoid", 1, "($0 < 0 ? $0 : 0) - log1p(exp($0 < 0 ? $0 : -$0))", true},
    {"mish", 1, "$0 * tanh($0 > 20 ? $0 : log1p(exp($0)))", true},
    {"hardsigmoid", 1, "$0 <= -3 ? 0 : $0 >= 3 ? 1 : $0 / 6 + 1 / decltype($0)(2)"},
    {"hardswish", 1, "$0 <= -3 ? 0 : $0 >= 3 ? $0 : $0 * ($0 + 3) / 6"},
    {"gelu", 1, "decltype($0)(0.5) * $0 * (1 + erf($0 * decltype($0)(0.70710678118654752)))", true},
    {"gelu_tanh", 1,
     "decltype($0)(0.5) * $0 * (1 + tanh(decltype($0)(0.79788456080286536) * ($0 + decltype($0)(0.044715) * $0 * $0 * "
     "$0)))",
     true},
    {"leaky_relu", 2, "$0 > 0 ? $0 : $0 * $1", false, false, "negative_slope"},
    {"elu", 2, "$0 > 0 ? $0 : $1 * expm1($0)", true, false, "alpha"},
    {"celu", 2, "$0 > 0 ? $0 : $1 * expm1($0 / $1)", true, false, "alpha"},
    {"threshold", 3, "$0 > $1 ? $0 : $2", false, false, "threshold value"},
    {"softplus", 3, "$0 * $1 > $2 ? $0 : log1p(exp($0 * $1)) / $1", true, false, "beta threshold"},
    {"softshrink", 2, "$0 > $1 ? $0 - $1 : $0 < -$1 ? $0 + $1 : $0 * 0", false, false, "lambd"},
    {"hardshrink", 2, "$0 >= -$1 && $0 <= $1 ? $0 * 0 : $0", false, false, "lambd"},
};

}  // namespace

const PointwiseFunction* find_pointwise(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.name == name; });
  return found == std::end(table) ? nullptr : found;
}

std::string spelt(const PointwiseFunction& function, const std::vector<std::string>& operands) {
  std::string text;
  for (std::size_t i = 0; i < function.text.size(); ++i) {
    if (function.text[i] != '$') {
      text += function.text[i];
      continue;
    }
    text += operands.at(static_cast<std::size_t>(function.text[++i] - '0'));
  }
  return text;
}

}  // namespace cudal1::algebra
