// SPDX-License-Identifier: Apache-2.0
#include "tensor/rounding.hpp"

#include "base/random.hpp"
#include "tensor/prepared_graph.hpp"
#include "tensor/rounding_rule.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace cudal1::tensor {
namespace {

using Kind = RoundingRule::Kind;
using Values = std::vector<double>;
using Shared = std::shared_ptr<const Array>;

constexpr std::int64_t grain = 65536;
constexpr double smallest_normal = 0x1p-126;   // of float32: what a function gives below it may be flushed to zero

double square(double x) { return x * x; }

// Of the arithmetic that computes a result of this type: short types are computed in float32 and rounded at the end. y64
// itself is double, so results of that type are held to some units of it.
double arithmetic_roundoff(Dtype dtype) { return dtype == Dtype::float64 ? 0x1p-47 : 0x1p-24; }

bool is_short(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

// The value of a node, and of each run where some are disturbed.
struct State {
  Shared value;
  std::vector<Shared> runs;   // empty: all as `value`
  bool disturbed() const { return !runs.empty(); }
};

struct Result {
  State state;                // disturbed by the node's own error too
  Values variance;            // of that and of all errors before; empty: none
  bool sampled = false;
};

bool integral(const Array& array) {
  return !is_floating(array.dtype) || std::all_of(array.values.begin(), array.values.end(), [](double x) { return x == std::nearbyint(x); });
}

// The absolute values of finite elements, at most about `most` of them.
std::vector<double> looks_at(const Array& array, std::size_t most) {
  const std::size_t stride = std::max<std::size_t>(1, array.values.size() / most);
  std::vector<double> seen;
  for (std::size_t i = stride / 2; i < array.values.size(); i += stride)
    if (std::isfinite(array.values[i])) seen.push_back(std::abs(array.values[i]));
  return seen;
}

// How likely it is that two elements are the same number, or no further apart than this relative difference: then the same
// rounding happens to both. 0: all are different; 1: all are the same. Zeros do not count, adding them is exact.
double sameness(const Array& array, double apart = 0) {
  std::vector<double> seen = looks_at(array, 256);
  const auto count = static_cast<double>(seen.size());
  std::erase(seen, 0.0);
  if (seen.size() <= 8) return 0;
  std::sort(seen.begin(), seen.end());
  double pairs = 0;
  for (std::size_t first = 0, last = 0; last < seen.size(); ++last) {
    while (seen[first] < seen[last] * (1 - apart)) ++first;
    pairs += static_cast<double>(last - first);
  }
  return 2 * pairs / (count * (count - 1));
}

// What rounding elements to the steps between floats as large as `total`, or as parts of it, comes to on average, squared and in
// units of that of a single element; 0 if no more than of random numbers.
double drift(const Array& array, double total, double roundoff) {
  const std::vector<double> seen = looks_at(array, 65536);
  if (seen.size() <= 8 || !(total > 0) || !std::isfinite(total)) return 0;
  const double step = 2 * roundoff * std::exp2(std::floor(std::log2(total)));
  const auto count = static_cast<double>(seen.size());
  double most = 0;
  for (const double part : {1.0, 0.5, 0.25, 0.125}) {
    const double grid = part * step;
    double sum = 0;
    for (const double x : seen) sum += std::nearbyint(x / grid) * grid - x;
    most = std::max(most, square(sum / count));
  }
  return std::clamp(12 * most / square(step) - 4 / count, 0.0, 1.0);
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

template <typename F>
Array mapped(const Array& array, F function) {
  Array result = array;
  if (is_floating(array.dtype))
    for (double& value : result.values) value = function(value);
  return result;
}

template <typename F>
void each(int threads, std::size_t count, F body) {
  parallel(threads, static_cast<std::int64_t>(count), grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) body(static_cast<std::size_t>(i));
  });
}

void keep_finite(Values& variance) {
  for (double& value : variance)
    if (!std::isfinite(value)) value = 0;
}

class Propagation {
 public:
  explicit Propagation(const RoundingOptions& options) : options_(options) {}

  // The outputs of a line in order. `inner`: intermediates are float32 whatever the types say, as inside one function.
  tl::expected<std::vector<Result>, base::Diagnostic> run(const Graph& graph, const std::map<std::string, State>& inputs,
                                                          const std::map<std::string, double>& scalars, bool inner) {
    std::map<std::string, Array> shapes;
    for (const auto& [name, state] : inputs) shapes[name] = {state.value->dtype, state.value->shape, {}};
    const auto prepared = PreparedGraph::make(graph, shapes, scalars);
    if (!prepared) return tl::unexpected(prepared.error());
    std::vector<State> states(graph.nodes.size());
    std::vector<Result> kept(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (const std::string name = prepared->input_name(id); !name.empty()) {
        states[i] = kept[i].state = inputs.at(name);
        continue;
      }
      std::vector<State> operands;
      for (const NodeId operand : graph.nodes[i].operands) operands.push_back(states[static_cast<std::size_t>(operand)]);
      auto result = node(*prepared, id, operands, inner);
      if (!result) return tl::unexpected(result.error());
      states[i] = result->state;
      if (prepared->last_use(id) == static_cast<NodeId>(graph.nodes.size())) kept[i] = *std::move(result);
      for (const NodeId operand : graph.nodes[i].operands)
        if (prepared->last_use(operand) == id) states[static_cast<std::size_t>(operand)] = {};
    }
    std::vector<Result> outputs;
    for (const auto& output : graph.outputs) outputs.push_back(kept[static_cast<std::size_t>(output.second)]);
    return outputs;
  }

 private:
  using Views = std::vector<const Array*>;

  static Views views(const std::vector<State>& operands, std::size_t run) {
    Views result;
    for (const State& operand : operands) result.push_back(operand.disturbed() ? operand.runs[run].get() : operand.value.get());
    return result;
  }
  static Views views(const std::vector<State>& operands) {
    Views result;
    for (const State& operand : operands) result.push_back(operand.value.get());
    return result;
  }

  std::size_t runs() const { return static_cast<std::size_t>(options_.runs); }

  tl::expected<Result, base::Diagnostic> node(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, bool inner) {
    auto value = graph.compute(id, views(operands), options_.threads);
    if (!value) return tl::unexpected(value.error());
    Result result;
    result.state.value = std::make_shared<const Array>(*std::move(value));
    const Dtype dtype = result.state.value->dtype;
    if (graph.node(id).function == "constant") return result;
    const RoundingRule* known = rounding_rule(graph.node(id).function);
    RoundingRule rule = known == nullptr ? RoundingRule{} : *known;
    if (rule.kind == Kind::composed) {
      auto parts = composed(graph, id, operands, *result.state.value);
      if (parts) return round_to(std::move(*parts), dtype, inner);
      rule.kind = Kind::backward;
    }
    const bool moved = std::any_of(operands.begin(), operands.end(), [](const State& each) { return each.disturbed(); });
    if (rule.kind == Kind::backward && is_floating(dtype)) {
      if (auto failed = rerun(graph, id, jostled(graph, id, operands), result)) return tl::unexpected(*failed);
      rule = {Kind::function, 4, 0};
    } else if (moved) {
      if (auto failed = rerun(graph, id, operands, result)) return tl::unexpected(*failed);
    }
    if (is_floating(dtype)) add_own(result, own_variance(graph, id, rule, operands, *result.state.value));
    return round_to(std::move(result), dtype, inner || !widens(graph, id, rule, dtype));
  }

  // Whether the function computes in more bits than its result of a short type holds.
  static bool widens(const PreparedGraph& graph, NodeId id, const RoundingRule& rule, Dtype dtype) {
    if (graph.node(id).function != "cast") return rule.kind != Kind::exact;
    const Dtype from = graph.type(graph.node(id).operands.front()).dtype;
    return size_of(from) > size_of(dtype) || !is_floating(from) || (is_short(from) && from != dtype);
  }

  // The operands of every run through the node. Their spread about the value is variance that was sampled.
  std::optional<base::Diagnostic> rerun(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, Result& result) {
    const Values& value = result.state.value->values;
    if (is_floating(result.state.value->dtype)) result.variance.assign(value.size(), 0);
    result.sampled = true;
    for (std::size_t run = 0; run < runs(); ++run) {
      auto moved = graph.compute(id, views(operands, run), options_.threads);
      if (!moved) return moved.error();
      if (!result.variance.empty())
        each(options_.threads, value.size(), [&](std::size_t i) {
          const double difference = moved->values[i] - value[i];
          if (std::isfinite(difference)) result.variance[i] += square(difference) / options_.runs;
        });
      result.state.runs.push_back(std::make_shared<const Array>(*std::move(moved)));
    }
    return std::nullopt;
  }

  // Adds an independent error to the result and to its runs.
  void add_own(Result& result, Values own) {
    if (std::all_of(own.begin(), own.end(), [](double variance) { return variance == 0; })) return;
    keep_finite(own);
    const Array& value = *result.state.value;
    const std::uint64_t stream = next_stream_++;
    if (result.variance.empty()) result.variance = own;
    else each(options_.threads, own.size(), [&](std::size_t i) { result.variance[i] += own[i]; });
    each(options_.threads, own.size(), [&](std::size_t i) { own[i] = std::sqrt(own[i]); });
    std::vector<std::shared_ptr<Array>> runs;
    for (std::size_t run = 0; run < this->runs(); ++run)
      runs.push_back(std::make_shared<Array>(result.state.disturbed() ? *result.state.runs[run] : value));
    // Up or down by one sigma: one bit for each of up to 128 runs.
    each(options_.threads, own.size(), [&](std::size_t i) {
      if (own[i] == 0) return;
      const auto bits = base::philox(options_.seed, i, stream);
      for (std::size_t run = 0; run < runs.size(); ++run)
        runs[run]->values[i] += (bits[run / 32 % 4] >> (run % 32) & 1) != 0 ? own[i] : -own[i];
    });
    result.state.runs.assign(runs.begin(), runs.end());
  }

  Result round_to(Result result, Dtype dtype, bool inner) {
    if (inner || !is_short(dtype)) return result;
    const Values& value = result.state.value->values;
    Values own(value.size());
    const double unit = rounding_rms * unit_roundoff(dtype);
    each(options_.threads, own.size(), [&](std::size_t i) { own[i] = square(unit * value[i]); });
    add_own(result, std::move(own));
    return result;
  }

  // What a function is made of, disturbed step by step, about the value that the evaluator gave.
  std::optional<Result> composed(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, const Array& value) {
    const Names names = graph.names();
    const Call call = graph.call(id, names);
    std::string body;
    try {
      body = rounding_body(call);
    } catch (const Refusal&) {
      return std::nullopt;   // an attribute that is no number here
    }
    if (body.empty()) return std::nullopt;
    std::map<std::string, State> inputs;
    std::vector<std::string> parameters;
    for (const Parameter& parameter : find_function(graph.node(id).function)->parameters) {
      const int index = call.index(parameter.name);
      if (index < 0) continue;
      parameters.push_back(parameter.name);
      inputs[parameter.name] = operands[static_cast<std::size_t>(index)];
    }
    const auto line = parse(body, parameters, {}, {"y"});
    if (!line) return std::nullopt;
    auto made = run(*line, inputs, {}, true);
    if (!made || made->front().state.value->values.size() != value.values.size()) return std::nullopt;
    Result result = std::move(made->front());
    const Shared middle = result.state.value;
    result.state.value = std::make_shared<const Array>(value);
    for (Shared& run : result.state.runs) {
      Array moved = value;
      each(options_.threads, value.values.size(), [&](std::size_t i) {
        const double difference = run->values[i] - middle->values[i];
        if (std::isfinite(difference)) moved.values[i] += difference;
      });
      run = std::make_shared<const Array>(std::move(moved));
    }
    return result;
  }

  // Operands moved as far as the roundings of the terms that meet in one result may amount to.
  std::vector<State> jostled(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands) {
    std::vector<State> result = operands;
    double results = 1;
    for (const Extent& extent : graph.type(id).shape) results *= static_cast<double>(extent.values.front());
    for (State& operand : result) {
      if (!is_floating(operand.value->dtype)) continue;
      const double terms = std::max(1.0, static_cast<double>(operand.value->values.size()) / std::max(results, 1.0));
      const double unit = rounding_rms * arithmetic_roundoff(operand.value->dtype) * std::sqrt(1 + terms / 3);
      Result moved{operand, {}, false};
      Values own(operand.value->values.size());
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = square(unit * operand.value->values[i]);
      add_own(moved, std::move(own));
      operand = moved.state;
    }
    return result;
  }

  Values own_variance(const PreparedGraph& graph, NodeId id, const RoundingRule& rule, const std::vector<State>& operands, const Array& value) {
    const double unit = rounding_rms * arithmetic_roundoff(value.dtype);
    const Values& values = value.values;
    Values variance(rule.kind == Kind::exact ? 0 : values.size());
    switch (rule.kind) {
      case Kind::function: {
        const bool rounded_once = rule.ulps == 0;   // then a result that a float can hold is exact
        each(options_.threads, values.size(), [&](std::size_t i) {
          if (rounded_once && static_cast<double>(static_cast<float>(values[i])) == values[i]) return;
          variance[i] = square(unit) * (square((1 + rule.ulps) * values[i]) + square(rule.floor));
        });
        break;
      }
      case Kind::sum: variance = sum_variance(graph, id, operands, value, unit); break;
      case Kind::scan: variance = scan_variance(graph, id, *operands.front().value, value, unit); break;
      case Kind::product: {
        const double terms = std::max(1.0, static_cast<double>(operands.front().value->values.size()) / static_cast<double>(std::max<std::size_t>(1, values.size())));
        const double length = graph.node(id).function == "cumprod" ? longest(operands.front().value->shape) : terms;
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

  static double longest(const Extents& shape) {
    return shape.empty() ? 1 : static_cast<double>(*std::max_element(shape.begin(), shape.end()));
  }

  // Terms that meet in one result.
  static double terms_of(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, double results) {
    const Names names = graph.names();
    const Call call = graph.call(id, names);
    const Node& node = graph.node(id);
    const auto count = [&](std::size_t operand) { return static_cast<double>(operands[operand].value->values.size()); };
    if (node.function == "scatter_add") return 1 + 4 * count(operands.size() - 1) / results;
    if (node.function == "interpolate") return 4;
    const Row* row = find_function(node.function)->row;
    if (row->work == nullptr) return std::max(1.0, count(0) / results);
    const double work = row->work(call, graph.type(id)) / results;
    const bool multiplies = operands.size() > 1 || node.function == "einsum";   // a product and a sum each
    return std::max(1.0, multiplies ? work / 2 : work);
  }

  Values sum_variance(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, const Array& value, double unit) {
    const std::string& function = graph.node(id).function;
    const auto with = [&](auto change) {
      std::vector<Array> changed;
      Views seen;
      changed.reserve(operands.size());
      for (const State& operand : operands) seen.push_back(&changed.emplace_back(mapped(*operand.value, change)));
      auto result = graph.compute(id, seen, options_.threads);
      return result ? std::move(result->values) : Values(value.values.size(), 0);
    };
    const double results = static_cast<double>(std::max<std::size_t>(1, value.values.size()));
    const double terms = terms_of(graph, id, operands, results);
    const bool whole = std::all_of(operands.begin(), operands.end(), [](const State& each) { return integral(*each.value); });
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
      if (graph.type(graph.node(id).operands.front()).dtype == Dtype::float32) operand_variance = 2 * square(rounding_rms * roundoff);
    }
    double largest = 0;
    for (const double each : value.values)
      if (std::isfinite(each)) largest = std::max(largest, std::abs(each));
    const double together = std::min(terms, longest_accumulation);
    double repeated = 1;
    for (const State& operand : operands) {
      const double roundoff = arithmetic_roundoff(value.dtype), total = largest / std::max(weight_of_one, 1e-300) * together / terms;
      repeated *= multiplies ? sameness(*operand.value) : std::max(sameness(*operand.value, 32 * roundoff), drift(*operand.value, total, roundoff));
    }
    const Values alone = operand_variance > 0 ? squares : Values{};
    if (function.starts_with("conv") && taps(operands.at(1).value->shape) > 1) {
      const std::size_t spatial = operands.at(1).value->shape.size() - 2;
      squares = over_neighbours(value.shape, value.shape.size() - spatial, mixed_taps(graph, id, operands, std::move(squares)));
    }
    const bool is_float32 = value.dtype != Dtype::float64;   // short types are added up in float32, too
    Values variance(value.values.size());
    each(options_.threads, variance.size(), [&](std::size_t i) {
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

  static std::size_t taps(const Extents& kernel) {
    std::size_t result = 1;
    for (std::size_t axis = 2; axis < kernel.size(); ++axis) result *= static_cast<std::size_t>(kernel[axis]);
    return result;
  }

  // A convolution computed in tiles, as by Winograd, multiplies sums of inputs by sums of a kernel's taps: rounding then knows
  // of each input and of the taps' mean square, not of which of them meet.
  Values mixed_taps(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, Values squares) {
    const std::string& function = graph.node(id).function;
    const Extents& kernel = operands.at(1).value->shape;
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
    for (const State& operand : operands) changed.push_back(mapped(*operand.value, square));
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

  Values scan_variance(const PreparedGraph& graph, NodeId id, const Array& in, const Array& value, double unit) {
    const Names names = graph.names();
    const Around around(in.shape, graph.call(id, names).axis("dim", static_cast<int>(in.shape.size())));
    const bool whole = integral(in);
    const double repeated = sameness(in);
    const double exact_below = 0.41 / unit;
    Values variance(value.values.size());
    parallel(options_.threads, around.outer * around.inner, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, around.length)),
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

  const RoundingOptions& options_;
  std::uint64_t next_stream_ = 1;
};

}  // namespace

tl::expected<std::map<std::string, RoundedArray>, base::Diagnostic> evaluate_rounded(const Graph& graph,
                                                                                     const std::map<std::string, Array>& inputs,
                                                                                     const std::map<std::string, double>& scalars,
                                                                                     const RoundingOptions& options) {
  std::map<std::string, State> states;
  for (const auto& [name, array] : inputs) states[name].value = Shared(Shared(), &array);
  auto results = Propagation(options).run(graph, states, scalars, false);
  if (!results) return tl::unexpected(results.error());
  std::map<std::string, RoundedArray> outputs;
  for (std::size_t i = 0; i < results->size(); ++i) {
    Result& result = (*results)[i];
    RoundedArray& output = outputs[graph.outputs[i].first];
    output.value = *result.state.value;
    output.sampled = result.sampled;
    if (is_floating(output.value.dtype)) {
      output.sigma = std::move(result.variance);
      output.sigma.resize(output.value.values.size(), 0);
      for (double& each : output.sigma) each = std::sqrt(each);
      continue;
    }
    for (const Shared& run : result.state.runs)
      if (run->values != output.value.values) output.alternatives.push_back(run->values);
  }
  return outputs;
}

}  // namespace cudal1::tensor
