// SPDX-License-Identifier: Apache-2.0
#include "tensor/rounding.hpp"

#include "base/random.hpp"
#include "tensor/arithmetic_rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>

namespace cudal1::tensor {
namespace {

using Kind = RoundingRule::Kind;
using Shared = std::shared_ptr<const Array>;

bool is_short(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

// The value of a node, and of each run where some are disturbed.
struct State {
  Shared value;
  std::vector<Shared> runs;   // empty: all as `value`
  double terms = 0;           // that one accumulator took: it may have begun at what is added to them
  bool disturbed() const { return !runs.empty(); }
};

struct Result {
  State state;                // disturbed by the node's own error too
  Values variance;            // of that and of all errors before; empty: none
  bool sampled = false;
};

class Propagation {
 public:
  explicit Propagation(const RoundingOptions& options) : options_(options), own_(options) {}

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

  // Runs know nothing of each other: of large arrays each has a thread, which also makes and fills its memory.
  void for_runs(std::size_t elements, const std::function<void(std::size_t run, int threads)>& body) const {
    const auto grain = std::max<std::int64_t>(1, rounding_grain / std::max<std::int64_t>(1, static_cast<std::int64_t>(elements)));
    const int within = std::max(1, options_.threads / std::max(1, options_.runs));
    const bool many = static_cast<std::int64_t>(elements) >= rounding_grain;
    parallel(options_.threads, options_.runs, grain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t run = first; run < last; ++run) body(static_cast<std::size_t>(run), many ? within : 1);
    });
  }

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
    if (is_floating(dtype)) {
      Values own = own_.variance(graph, id, rule, views(operands), *result.state.value, inner);
      begun_elsewhere(graph, id, operands, own, result.state);
      add_own(result, std::move(own), rule.kind == Kind::function);
      if (rule.kind == Kind::sum) result.state.terms = own_.accumulated(graph, id, views(operands), *result.state.value);
    }
    return round_to(std::move(result), dtype, inner || !widens(graph, id, rule, dtype));
  }

  // A sum s of n terms to which d is added: an accumulator that begins at d goes from there to d + s, and each step is rounded.
  void begun_elsewhere(const PreparedGraph& graph, NodeId id, const std::vector<State>& operands, Values& own, State& result) const {
    const std::string& function = graph.node(id).function;
    if (function != "add" && function != "sub") return;
    const Array& value = *result.value;
    const double unit = rounding_rms * arithmetic_roundoff(value.dtype);
    for (const State& sum : operands) {
      if (sum.terms <= 1 || sum.value->shape != value.shape || own.size() != value.values.size()) continue;
      for_elements(options_.threads, own.size(), [&](std::size_t i) {
        const double whole = value.values[i], part = sum.value->values[i];
        const double begin = std::abs(whole - part) < std::abs(whole + part) ? whole - part : whole + part;   // added or taken away
        if (!sum.disturbed() && begin == std::nearbyint(begin)) return;                                       // integers are exact
        const double more = square(begin) + begin * (whole - begin);
        if (more > 0 && std::isfinite(more)) own[i] += square(unit) * sum.terms * more;
      });
      result.terms = std::max(result.terms, sum.terms);
    }
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
    result.sampled = true;
    std::size_t largest = value.size();
    for (const State& operand : operands) largest = std::max(largest, operand.value->values.size());
    std::vector<std::optional<base::Diagnostic>> failed(runs());
    result.state.runs.resize(runs());
    for_runs(largest, [&](std::size_t run, int threads) {
      auto moved = graph.compute(id, views(operands, run), threads);
      if (moved) result.state.runs[run] = std::make_shared<Array>(*std::move(moved));
      else failed[run] = moved.error();
    });
    for (const auto& each : failed)
      if (each) return each;
    if (!is_floating(result.state.value->dtype)) return std::nullopt;
    result.variance.assign(value.size(), 0);
    for (const Shared& run : result.state.runs)
      for_elements(options_.threads, value.size(), [&, share = 1.0 / options_.runs](std::size_t i) {
        const double difference = run->values[i] - value[i];
        result.variance[i] += std::isfinite(difference) ? square(difference) * share : 0;
      });
    return std::nullopt;
  }

  // Adds an error to the result and to its runs, independent of others, but that with `alike` three of four numbers that are equal err
  // together: a function of single elements gives equal results for equal arguments.
  void add_own(Result& result, Values own, bool alike = false) {
    if (std::all_of(own.begin(), own.end(), [](double variance) { return variance == 0; })) return;
    const Shared value = result.state.value;
    if (result.variance.empty()) result.variance.assign(own.size(), 0);
    // Up or down by one sigma: one bit for each run.
    const std::uint64_t stream = next_stream_++;
    constexpr std::size_t word_bits = 32, drawn_words = 4;
    const std::size_t words = std::max<std::size_t>(1, (runs() + word_bits - 1) / word_bits), share = drawn_words / std::min(words, drawn_words);   // elements to a draw
    std::vector<std::uint32_t> bits(own.size() * words);
    for_elements(options_.threads, (own.size() + share - 1) / share, [&](std::size_t draw) {
      const auto drawn = base::philox(options_.seed, draw, stream);
      for (std::size_t i = draw * share; i < std::min(own.size(), (draw + 1) * share); ++i) {
        if (!std::isfinite(own[i])) own[i] = 0;
        result.variance[i] += own[i];
        own[i] = std::sqrt(own[i]);
        for (std::size_t word = 0; word < words; ++word) bits[i * words + word] = drawn[((i - draw * share) * words + word) % drawn_words];
        if (!alike || (i * 0x9e3779b97f4a7c15 >> 62) == 0 || own[i] == 0) continue;
        std::uint64_t same = base::mixed(options_.seed + ~stream) ^ std::bit_cast<std::uint64_t>(value->values[i]);
        for (std::size_t word = 0; word < words; ++word) bits[i * words + word] = static_cast<std::uint32_t>((same = base::mixed(same)) >> 32);
      }
    });
    result.state.runs.resize(runs());
    for_runs(own.size(), [&](std::size_t run, int) {
      Shared& known = result.state.runs[run];
      // What nobody else holds is changed where it lies; nothing here is made as a constant.
      const auto moved = known && known.use_count() == 1 ? std::const_pointer_cast<Array>(known) : std::make_shared<Array>(known ? *known : *value);
      for (std::size_t i = 0; i < own.size(); ++i)   // without a branch, because nothing foretells it
        moved->values[i] += own[i] * (2 * static_cast<double>(bits[i * words + run / word_bits] >> (run % word_bits) & 1) - 1);
      known = moved;
    });
  }

  Result round_to(Result result, Dtype dtype, bool inner) {
    if (inner || !is_short(dtype)) return result;
    const Values& value = result.state.value->values;
    Values own(value.size());
    const double unit = rounding_rms * unit_roundoff(dtype);
    for_elements(options_.threads, own.size(), [&](std::size_t i) { own[i] = square(unit * value[i]); });
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
    if (!result.state.disturbed()) return result;
    for_runs(value.values.size(), [&](std::size_t run, int) {
      const auto moved = std::make_shared<Array>(value);
      const Shared& before = result.state.runs[run];
      for (std::size_t i = 0; i < value.values.size(); ++i) {
        const double difference = before->values[i] - middle->values[i];
        if (std::isfinite(difference)) moved->values[i] += difference;
      }
      result.state.runs[run] = moved;
    });
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

  const RoundingOptions& options_;
  const ArithmeticRounding own_;
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
      for_elements(options.threads, output.sigma.size(), [&](std::size_t i) { output.sigma[i] = std::sqrt(output.sigma[i]); });
      continue;
    }
    for (const Shared& run : result.state.runs)
      if (run->values != output.value.values) output.alternatives.push_back(run->values);
  }
  return outputs;
}

}  // namespace cudal1::tensor
