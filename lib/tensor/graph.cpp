// SPDX-License-Identifier: Apache-2.0
#include "tensor/graph.hpp"

#include "base/text.hpp"
#include "tensor/binder.hpp"
#include "tensor/canonical.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace cudal1::tensor {

std::string replace_nodes(const std::string& text, const std::function<std::string(NodeId)>& name) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      result += text[at++];
      continue;
    }
    NodeId node = -1;
    at = static_cast<std::size_t>(std::from_chars(text.data() + at + 1, text.data() + text.size(), node).ptr - text.data());
    result += name(node);
  }
  return result;
}

std::vector<NodeId> needs(const Node& node) {
  std::vector<NodeId> result = node.operands;
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* text = std::get_if<SizeText>(&attribute))
      replace_nodes(text->text, [&](NodeId id) {
        result.push_back(id);
        return std::string();
      });
  return result;
}

Graph canonical(const Graph& graph) {
  Graph result;
  std::vector<NodeId> renamed(graph.nodes.size(), -1);
  struct Visit {
    NodeId node;
    std::vector<NodeId> needed;
    std::size_t next = 0;
  };
  for (const auto& [name, output] : graph.outputs) {
    std::vector<Visit> stack;
    const auto enter = [&](NodeId node) {
      if (renamed[static_cast<std::size_t>(node)] < 0) stack.push_back({node, needs(graph.nodes[static_cast<std::size_t>(node)])});
    };
    enter(output);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next < visit.needed.size()) {
        enter(visit.needed[visit.next++]);
        continue;
      }
      const NodeId id = visit.node;
      stack.pop_back();
      if (renamed[static_cast<std::size_t>(id)] >= 0) continue;
      Node node = graph.nodes[static_cast<std::size_t>(id)];
      for (NodeId& operand : node.operands) operand = renamed[static_cast<std::size_t>(operand)];
      for (auto& [key, attribute] : node.attributes)
        if (auto* text = std::get_if<SizeText>(&attribute))
          text->text = replace_nodes(text->text, [&](NodeId old) { return fmt::format("${}", renamed[static_cast<std::size_t>(old)]); });
      renamed[static_cast<std::size_t>(id)] = static_cast<NodeId>(result.nodes.size());
      result.nodes.push_back(std::move(node));
    }
    result.outputs.emplace_back(name, renamed[static_cast<std::size_t>(output)]);
  }
  return result;
}

tl::expected<Graph, base::Diagnostic> parse(std::string_view text, const std::vector<std::string>& inputs,
                                            const std::vector<std::string>& sizes, const std::vector<std::string>& outputs,
                                            const std::string& file, int line, int column) {
  const auto diagnostic = [&](const Failure& failure) {
    base::Diagnostic result;
    result.severity = failure.severity;
    result.file = file;
    result.line = line;
    result.column = column + failure.column - 1;
    result.message = failure.message;
    result.hint = failure.hint;
    return tl::unexpected(result);
  };
  const auto syntax = read_syntax(text);
  if (!syntax) return diagnostic({syntax.error().column, syntax.error().message, {}});
  Binder binder(inputs, sizes);
  try {
    binder.run(*syntax);
    std::vector<std::pair<std::string, NodeId>> results;
    for (const std::string& output : outputs) {
      const NodeId node = binder.result(output);
      if (node < 0) return diagnostic({1, fmt::format("the output {} is never assigned", output), fmt::format("write {} = …", output)});
      results.emplace_back(output, node);
    }
    Graph graph = binder.take();
    graph.outputs = std::move(results);
    return canonical(graph);
  } catch (const Failure& failure) {
    return diagnostic(failure);
  }
}

namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), names_(graph.nodes.size()), height_(graph.nodes.size()) {
    std::vector<int> uses(graph.nodes.size());
    std::vector<char> mentioned(graph.nodes.size());
    for (const Node& node : graph.nodes) {
      for (const NodeId operand : node.operands) ++uses[static_cast<std::size_t>(operand)];
      const std::vector<NodeId> all = needs(node);
      for (std::size_t i = node.operands.size(); i < all.size(); ++i) mentioned[static_cast<std::size_t>(all[i])] = 1;
    }
    for (const auto& output : graph.outputs) ++uses[static_cast<std::size_t>(output.second)];
    prefix_ = "_";
    while (std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return mentions_prefix(node); })) prefix_ += "_";
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (node.function == "input") names_[i] = std::get<std::string>(node.attributes.at("name"));
      for (const NodeId operand : node.operands) height_[i] = std::max(height_[i], height_[static_cast<std::size_t>(operand)] + 1);
      const bool leaf = node.operands.empty() && (node.function == "input" || node.function == "constant");
      if (leaf && !(mentioned[i] != 0 && node.function == "constant")) continue;
      if (uses[i] > 1 || mentioned[i] != 0 || height_[i] >= 12) define(i);
    }
  }

  std::string print() {
    // An output that bears an input's name would hide it from the outputs behind it.
    bool hides = false;
    for (const auto& [name, node] : graph_.outputs)
      for (const Node& each : graph_.nodes)
        hides = hides || (each.function == "input" && std::get<std::string>(each.attributes.at("name")) == name);
    if (hides && graph_.outputs.size() > 1)
      for (const auto& [name, node] : graph_.outputs) define_anew(static_cast<std::size_t>(node));
    for (const auto& [name, node] : graph_.outputs) statements_ += fmt::format("{}{} = {}", statements_.empty() ? "" : "; ", name, expression(static_cast<std::size_t>(node)));
    return statements_;
  }

 private:
  bool mentions_prefix(const Node& node) const {
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* word = std::get_if<std::string>(&attribute))
        if (word->starts_with(prefix_)) return true;
      if (const auto* text = std::get_if<SizeText>(&attribute))
        if (text->text.find(prefix_) != std::string::npos) return true;
    }
    for (const auto& output : graph_.outputs)
      if (output.first.starts_with(prefix_)) return true;
    return false;
  }

  void define(std::size_t node) {
    const std::string text = expression(node);
    names_[node] = fmt::format("{}{}", prefix_, node);
    statements_ += fmt::format("{}{} = {}", statements_.empty() ? "" : "; ", names_[node], text);
    height_[node] = 0;
  }

  void define_anew(std::size_t node) {
    if (names_[node].starts_with(prefix_)) return;
    define(node);
  }

  std::string expression(std::size_t id) const {
    if (!names_[id].empty()) return names_[id];
    const Node& node = graph_.nodes[id];
    if (node.function == "constant") return attribute_text(node.attributes.at("value"), false);
    const Function* function = find_function(node.function);
    // Python has functions of these names for numbers.
    const bool ambiguous = node.function == "abs" || node.function == "round";
    std::string text = (ambiguous ? "torch." : "") + node.function + "(";
    if (function == nullptr) return text + ")";
    std::size_t next = 0;
    bool gap = false;
    const auto separate = [&](const std::string& keyword) {
      if (text.back() != '(') text += ", ";
      if (gap) text += keyword + "=";
    };
    for (const Parameter& parameter : function->parameters) {
      const auto attribute = node.attributes.find(parameter.name);
      if (attribute != node.attributes.end()) {
        const bool optional = !parameter.required && attribute->second == parameter.value;
        if (optional || (std::holds_alternative<std::monostate>(attribute->second) && parameter.kind == Parameter::Kind::optional_tensor)) {
          gap = true;
          continue;
        }
        gap = true;
        separate(parameter.name);
        text += attribute_text(attribute->second, parameter.kind == Parameter::Kind::dtype);
      } else if (parameter.kind == Parameter::Kind::tensors) {
        separate(parameter.name);
        text += "[";
        for (bool first = true; next < node.operands.size(); first = false)
          text += (first ? "" : ", ") + expression(static_cast<std::size_t>(node.operands[next++]));
        text += "]";
      } else if (next < node.operands.size()) {
        separate(parameter.name);
        text += expression(static_cast<std::size_t>(node.operands[next++]));
      }
    }
    return text + ")";
  }

  std::string attribute_text(const Attribute& attribute, bool dtype) const {
    if (const auto* word = std::get_if<std::string>(&attribute)) return dtype ? "torch." + *word : fmt::format(fmt::runtime(word->find('\'') == std::string::npos ? "'{}'" : "\"{}\""), *word);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute))
      return fmt::format("({}{})", fmt::join(*list, ", "), list->size() == 1 ? "," : "");
    if (const auto* text = std::get_if<SizeText>(&attribute))
      return replace_nodes(text->text, [&](NodeId node) { return names_[static_cast<std::size_t>(node)]; });
    return python_text(attribute);
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  std::vector<int> height_;
  std::string prefix_, statements_;
};

}  // namespace

std::string to_string(const Graph& graph) { return Printer(graph).print(); }

}  // namespace cudal1::tensor
