// SPDX-License-Identifier: Apache-2.0
#include "tensor/binder.hpp"
#include "tensor/canonical.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

// Applying it to its own result changes nothing more.
const std::set<std::string, std::less<>> idempotent = {"relu", "relu6", "abs", "floor", "ceil", "round", "trunc", "sign", "tril", "triu", "hardtanh", "clamp"};
// These give a real result for a real operand of any value, whatever its dtype was: -x twice and the like are exact.
const std::set<std::string, std::less<>> involutions = {"neg", "flip", "logical_not", "bitwise_not"};
const std::set<std::string, std::less<>> reals = {"exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "softmax", "log_softmax", "gelu", "silu", "div", "mean",
                                                  "layer_norm", "rms_norm", "group_norm", "batch_norm", "instance_norm", "logsumexp", "norm", "erf", "sin", "cos"};

const Node& at(const Graph& graph, NodeId id) { return graph.nodes[static_cast<std::size_t>(id)]; }

std::optional<double> literal(const Graph& graph, NodeId id) {
  const Node& node = at(graph, id);
  if (node.function != "constant") return std::nullopt;
  const Attribute& value = node.attributes.at("value");
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

// The order of axes that a transposition makes, if it can be told without the rank: dims, or -1 for "all reversed".
bool undoes(const Node& outer, const Node& inner) {
  if (outer.function == "transpose" && inner.function == "transpose") {
    const auto &a = outer.attributes.at("dim0"), &b = outer.attributes.at("dim1"), &c = inner.attributes.at("dim0"), &d = inner.attributes.at("dim1");
    return (a == c && b == d) || (a == d && b == c);
  }
  if (outer.function != "permute" || inner.function != "permute") return false;
  const Attribute &first = inner.attributes.at("dims"), &second = outer.attributes.at("dims");
  if (std::holds_alternative<std::monostate>(first) && std::holds_alternative<std::monostate>(second)) return true;
  const auto *a = std::get_if<std::vector<std::int64_t>>(&first), *b = std::get_if<std::vector<std::int64_t>>(&second);
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  const auto rank = static_cast<std::int64_t>(a->size());
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t to = (*b)[static_cast<std::size_t>(i)];
    if (to < 0) to += rank;
    if (to < 0 || to >= rank) return false;
    std::int64_t from = (*a)[static_cast<std::size_t>(to)];
    if (from < 0) from += rank;
    if (from != i) return false;
  }
  return true;
}

bool known_real(const Graph& graph, NodeId id) { return reals.count(at(graph, id).function) != 0; }

// The node that a node equals; itself when it does something.
NodeId replacement(const Graph& graph, const Node& node, NodeId self) {
  if (node.operands.size() == 1) {
    const NodeId operand = node.operands[0];
    const Node& inner = at(graph, operand);
    if (idempotent.count(node.function) != 0 && inner.function == node.function && inner.attributes == node.attributes) return operand;
    if (involutions.count(node.function) != 0 && inner.function == node.function && inner.attributes == node.attributes &&
        (node.function != "logical_not" || at(graph, inner.operands[0]).function == "logical_not"))
      return inner.operands[0];
    if (undoes(node, inner)) return inner.operands[0];
    if (node.function == "transpose" && node.attributes.at("dim0") == node.attributes.at("dim1")) return operand;
    if (node.function == "cast" && inner.function == "cast" && inner.attributes == node.attributes) return operand;
    return self;
  }
  if (node.operands.size() != 2) return self;
  const NodeId a = node.operands[0], b = node.operands[1];
  const auto left = literal(graph, a), right = literal(graph, b);
  // A neutral element may only go when it did not turn integers into reals.
  const bool real_left = known_real(graph, a), real_right = known_real(graph, b);
  if ((node.function == "mul" || node.function == "div" || node.function == "pow") && right == 1.0 && real_left) return a;
  if (node.function == "mul" && left == 1.0 && real_right) return b;
  if ((node.function == "add" || node.function == "sub") && right == 0.0 && real_left) return a;
  if (node.function == "add" && left == 0.0 && real_right) return b;
  return self;
}

std::string key_of(const Node& node) {
  std::string key = node.function;
  for (const NodeId operand : node.operands) key += fmt::format(" {}", operand);
  for (const auto& [name, value] : node.attributes) {
    key += fmt::format(";{}:{}=", name, value.index());
    if (const auto* word = std::get_if<std::string>(&value)) key += *word;
    else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) key += fmt::format("{}", fmt::join(*list, ","));
    else key += python_text(value);
  }
  return key;
}

}  // namespace

Graph simplify(const Graph& graph) {
  Graph result;
  std::vector<NodeId> renamed;
  std::map<std::string, NodeId> known;
  for (const Node& old : graph.nodes) {
    Node node = old;
    for (NodeId& operand : node.operands) operand = renamed[static_cast<std::size_t>(operand)];
    for (auto& [name, attribute] : node.attributes)
      if (auto* text = std::get_if<SizeText>(&attribute))
        text->text = replace_nodes(text->text, [&](NodeId id) { return fmt::format("${}", renamed[static_cast<std::size_t>(id)]); });
    const NodeId self = static_cast<NodeId>(result.nodes.size());
    NodeId same = replacement(result, node, self);
    if (same == self) {
      const auto [at, fresh] = known.try_emplace(key_of(node), self);
      same = at->second;
      if (fresh) result.nodes.push_back(std::move(node));
    }
    renamed.push_back(same);
  }
  for (const auto& [name, node] : graph.outputs) result.outputs.emplace_back(name, renamed[static_cast<std::size_t>(node)]);
  return canonical(result);
}

}  // namespace cudal1::tensor
