// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic_rounding.hpp"

#include "tensor/likeness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cudal1::tensor {
namespace {

using Kind = RoundingRule::Kind;
using Views = ArithmeticRounding::Views;

constexpr double smallest_normal = 0x1p-126;   // of float32: what a function gives below it may be flushed to zero

bool integral(const Array& array) {
  return !is_floating(array.dtype) || std::all_of(array.values.begin(), array.values.end(), [](double x) { return x == std::nearbyint(x); });
}

template <typename F>
Array mapped(const Array& array, F function) {
  Array result = array;
  if (is_floating(array.dtype))
    for (double& value : result.values) value = function(value);
  return result;
}

// The largest over each place's neighbours along the axes from `first`: results computed in tiles, as by Winograd, share errors.
Values over_neighbours(const Extents& shape, std::size_t first, Values values) {
  for (std::size_t axis = first; axis < shape.size(); ++axis) {
    const Around around(shape, static_cast<int>(axis));
    const Values before = values;
    for (std::int64_t outer = 0; outer < around.outer; ++outer)
      for (std::int64_t k = 0; k < around.length; ++k)
        for (std::int64_t inner = 0; inner < around.inner; ++inner) {
          const auto place = [&](std::int64_t index) { return static_cast<std::size_t>((outer * around.length + index) * around.inner + inner); };
          for (const std::int64_t other : {k - 1, k + 1})
            if (other >= 0 && other < around.length) values[place(k)] = std::max(values[place(k)], before[place(other)]);
        }
  }
  return values;
}

double longest(const Extents& shape) {
  return shape.empty() ? 1 : static_cast<double>(*std::max_element(shape.begin(), shape.end()));
}

// Terms that meet in one result.
double terms_of(const PreparedGraph& graph, NodeId id, const Views& operands, double results) {
  const Names names = graph.names();
  const Call call = graph.call(id, names);
  const Node& node = graph.node(id);
  const auto count = [&](std::size_t operand) { return static_cast<double>(operands[operand]->values.size()); };
  if (node.function == "scatter_add") return 1 + 4 * count(operands.size() - 1) / results;
  if (node.function == "interpolate") return 4;
  const Row* row = find_function(node.function)->row;
  if (row->work == nullptr) return std::max(1.0, count(0) / results);
  const double work = row->work(call, graph.type(id)) / results;
  const bool multiplies = operands.size() > 1 || node.function == "einsum";   // a product and a sum each
  return std::max(1.0, multiplies ? work / 2 : work);
}

std::size_t taps(const Extents& kernel) {
  std::size_t result = 1;
  for (std::size_t axis = 2; axis < kernel.size(); ++axis) result *= static_cast<std::size_t>(kernel[axis]);
  return result;
}

}  // namespace

double arithmetic_roundoff(Dtype dtype) { return dtype == Dtype::float64 ? 0x1p-47 : 0x1p-24; }

Values ArithmeticRounding::variance(const PreparedGraph& graph, NodeId id, const RoundingRule& rule, const Views& operands, const Array& value, bool inner) const {
  const double unit = rounding_rms * arithmetic_roundoff(value.dtype);
  const Values& values = value.values;
  Values variance(rule.kind == Kind::exact ? 0 : values.size());
  switch (rule.kind) {
    case Kind::function: {
      const bool rounded_once = rule.ulps == 0;   // then a result that a float can hold is exact
      for_elements(options_.threads, values.size(), [&](std::size_t i) {
        if (rounded_once && static_cast<double>(static_cast<float>(values[i])) == values[i]) return;
        variance[i] = square(unit) * (square((1 + rule.ulps) * values[i]) + square(rule.floor));
      });
      if (graph.node(id).function == "logcumsumexp") {
        const Values steps = of_steps(graph, id, value, 2 * unit);
        for (std::size_t i = 0; i < variance.size(); ++i) variance[i] += steps[i];
      }
      break;
    }
    case Kind::sum: variance = of_sum(graph, id, operands, value, unit, inner); break;
    case Kind::scan: variance = of_scan(graph, id, *operands.front(), value, unit); break;
    case Kind::product: {
      const double terms = std::max(1.0, static_cast<double>(operands.front()->values.size()) / static_cast<double>(std::max<std::size_t>(1, values.size())));
      const double length = graph.node(id).function == "cumprod" ? longest(operands.front()->shape) : terms;
      for (std::size_t i = 0; i < values.size(); ++i) variance[i] = 2 * length * square(unit * values[i]);
      break;
    }
    case Kind::exact: case Kind::composed: case Kind::backward: break;
  }
  if (value.dtype != Dtype::float64)
    for (std::size_t i = 0; i < variance.size(); ++i)
      if (std::abs(values[i]) < smallest_normal) variance[i] += square(values[i]);
  return variance;
}

double ArithmeticRounding::accumulated(const PreparedGraph& graph, NodeId id, const Views& operands, const Array& value) const {
  return std::min(longest_accumulation, terms_of(graph, id, operands, static_cast<double>(std::max<std::size_t>(1, value.values.size()))));
}

// A running value that each step changes by a function of itself: all before it were rounded, and none counts more than once.
Values ArithmeticRounding::of_steps(const PreparedGraph& graph, NodeId id, const Array& value, double unit) const {
  const Names names = graph.names();
  const Around around(value.shape, graph.call(id, names).axis("dim", static_cast<int>(value.shape.size())));
  Values variance(value.values.size());
  for (std::int64_t line = 0; line < around.outer * around.inner; ++line) {
    double squares = 0;
    for (std::int64_t k = 0; k < around.length; ++k) {
      const auto at = static_cast<std::size_t>((line / around.inner * around.length + k) * around.inner + line % around.inner);
      if (std::isfinite(value.values[at])) squares += square(value.values[at]);
      variance[at] = square(unit) * squares;
    }
  }
  return variance;
}

Values ArithmeticRounding::of_sum(const PreparedGraph& graph, NodeId id, const Views& operands, const Array& value, double unit, bool inner) const {
  const std::string& function = graph.node(id).function;
  const auto with = [&](auto change) {
    std::vector<Array> changed;
    Views seen;
    changed.reserve(operands.size());
    for (const Array* operand : operands) seen.push_back(&changed.emplace_back(mapped(*operand, change)));
    auto result = graph.compute(id, seen, options_.threads);
    return result ? std::move(result->values) : Values(value.values.size(), 0);
  };
  const double results = static_cast<double>(std::max<std::size_t>(1, value.values.size()));
  const double terms = terms_of(graph, id, operands, results);
  const bool whole = std::all_of(operands.begin(), operands.end(), [](const Array* each) { return integral(*each); });
  // Sums of integers below 1/u are exact.
  double weight_of_one = 1;
  const bool multiplies = function == "matmul" || function == "einsum" || function.starts_with("conv");
  Values weights;
  if (!multiplies && function != "scatter_add") weights = with([](double) { return 1.0; });
  if (!weights.empty()) weight_of_one = std::abs(weights.front()) / terms;
  const double exact_below = 0.41 / unit;
  if (whole && weight_of_one == 1) {   // a mean may be taken of what was divided first
    const Values sizes = with([](double x) { return std::abs(x); });
    if (sizes.empty() || *std::max_element(sizes.begin(), sizes.end()) < exact_below) return Values(value.values.size(), 0);
  }
  Values squares = with([](double x) { return x * x; });
  for (std::size_t i = 0; i < weights.size(); ++i) squares[i] *= std::abs(weights[i]) / terms;
  double operand_variance = 0;
  if (multiplies) {
    const double roundoff = function.starts_with("conv") ? options_.convolution_operands : options_.product_operands;
    // What a function computes on its way is float32, whatever its operands are.
    const std::vector<NodeId>& factors = graph.node(id).operands;
    const auto computed = [&](NodeId factor) {
      while (graph.node(factor).function == "transpose" || graph.node(factor).function == "permute") factor = graph.node(factor).operands.front();
      return inner && graph.node(factor).function != "input";
    };
    const bool wide = graph.type(factors.front()).dtype == Dtype::float32;
    operand_variance = (wide ? 2 : static_cast<double>(std::count_if(factors.begin(), factors.end(), computed))) * square(rounding_rms * roundoff);
  }
  double largest = 0;
  for (const double each : value.values)
    if (std::isfinite(each)) largest = std::max(largest, std::abs(each));
  const double together = std::min(terms, longest_accumulation);
  double repeated = 1;
  const double roundoff = arithmetic_roundoff(value.dtype), total = largest / std::max(weight_of_one, 1e-300) * together / terms;
  for (const Array* operand : operands) {
    repeated *= multiplies ? sameness(*operand) : std::max(sameness(*operand, 32 * roundoff), drift(*operand, total, roundoff));
  }
  // Where a few terms are far larger than all others, these are rounded to what is left of them beside such a sum.
  if (multiplies && operands.size() == 2) repeated = std::max(repeated, drift_of_products(*operands[0], *operands[1], total, roundoff));
  const Values alone = operand_variance > 0 ? squares : Values{};
  if (function.starts_with("conv") && taps(operands.at(1)->shape) > 1) {
    const std::size_t spatial = operands.at(1)->shape.size() - 2;
    squares = over_neighbours(value.shape, value.shape.size() - spatial, mixed_taps(graph, id, operands, std::move(squares)));
  }
  const bool is_float32 = value.dtype != Dtype::float64;   // short types are added up in float32, too
  Values variance(value.values.size());
  for_elements(options_.threads, variance.size(), [&](std::size_t i) {
    const double s2 = square(value.values[i]), q = squares[i];
    double rounded = together * (s2 / 3 + q / 6) + q + s2;
    // Terms closer to each other than the step between floats of their sum's size.
    const bool alike = !multiplies && q / terms - s2 / square(terms) < square(2 * arithmetic_roundoff(value.dtype) * together / terms) * s2;
    rounded += (alike ? 1 : repeated) * square(together / 2) * (s2 + q);
    variance[i] = square(unit) * rounded;
    if (operand_variance > 0) variance[i] += operand_variance * alone[i];
    if (is_float32 && q > 0) variance[i] += std::min(s2 + q, terms * square(smallest_normal) * std::min(1.0, smallest_normal / std::sqrt(q)));
  });
  return variance;
}

// A convolution computed in tiles, as by Winograd, multiplies sums of inputs by sums of a kernel's taps: rounding then knows
// of each input and of the taps' mean square, not of which of them meet.
Values ArithmeticRounding::mixed_taps(const PreparedGraph& graph, NodeId id, const Views& operands, Values squares) const {
  const std::string& function = graph.node(id).function;
  const Extents& kernel = operands.at(1)->shape;
  if (function.starts_with("conv_transpose") || kernel.size() < 3) return squares;
  const Names names = graph.names();
  const Call call = graph.call(id, names);
  const auto axes = static_cast<int>(kernel.size()) - 2;
  for (const char* attribute : {"stride", "dilation"})
    for (const std::int64_t step : call.integers(attribute, axes))
      if (step != 1) return squares;
  std::vector<Array> changed;
  Views seen;
  changed.reserve(operands.size());
  for (const Array* operand : operands) changed.push_back(mapped(*operand, square));
  Values& weights = changed[1].values;
  const std::size_t length = taps(kernel);
  for (std::size_t first = 0; first + length <= weights.size(); first += length) {
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>(first), to = from + static_cast<std::ptrdiff_t>(length);
    std::fill(from, to, std::accumulate(from, to, 0.0) / static_cast<double>(length));
  }
  for (const Array& each : changed) seen.push_back(&each);
  const auto mixed = graph.compute(id, seen, options_.threads);
  if (mixed)
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = std::max(squares[i], mixed->values[i]);
  return squares;
}

Values ArithmeticRounding::of_scan(const PreparedGraph& graph, NodeId id, const Array& in, const Array& value, double unit) const {
  const Names names = graph.names();
  const Around around(in.shape, graph.call(id, names).axis("dim", static_cast<int>(in.shape.size())));
  const bool whole = integral(in);
  const double repeated = sameness(in);
  const double exact_below = 0.41 / unit;
  Values variance(value.values.size());
  parallel(options_.threads, around.outer * around.inner, std::max<std::int64_t>(1, rounding_grain / std::max<std::int64_t>(1, around.length)),
           [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t start = line / around.inner * around.length * around.inner + line % around.inner;
      double size = 0, squares = 0, sizes = 0;
      for (std::int64_t k = 0; k < around.length; ++k) {
        const auto at = static_cast<std::size_t>(start + k * around.inner);
        size += std::abs(in.values[at]);
        squares += square(value.values[at]);
        sizes += std::abs(value.values[at]);
        if (whole && size < exact_below) continue;
        // Each partial sum is rounded once; orders other than from left to right round sums of the same size.
        double rounded = squares + 4 * squares / static_cast<double>(k + 1);
        rounded += repeated * square(sizes);
        variance[at] = square(unit) * rounded;
      }
    }
  });
  return variance;
}

}  // namespace cudal1::tensor
