// SPDX-License-Identifier: Apache-2.0
#include "curriculum/structure.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"
#include "search/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace cudal1::curriculum {

namespace {

using tensor::Attribute;
using tensor::Graph;
using tensor::Node;
using tensor::NodeId;

constexpr unsigned test_percent = 10;
constexpr std::array exchangeable = {"add", "mul", "maximum", "minimum"};
constexpr std::array axes = {"dim", "dims", "dim0", "dim1", "axis"};   // integers that are no sizes

std::string axis_text(const Attribute& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  std::string text;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    for (const std::int64_t each : *list) text += std::to_string(each) + ' ';
  return text;
}

std::string attribute_text(const std::string& name, const Attribute& value) {
  if (std::find(axes.begin(), axes.end(), name) != axes.end()) return axis_text(value);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return std::holds_alternative<std::monostate>(value) ? "none" : "#";
}

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), plain_(graph.nodes.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) plain_[i] = text(static_cast<NodeId>(i), false);
  }

  std::string run() {
    std::string result;
    for (const auto& [_, node] : graph_.outputs) result += (result.empty() ? "" : "; ") + text(node, true);
    return result;
  }

 private:
  // Of plain text inputs are all alike; otherwise they are numbered, and a node that comes again is its number.
  std::string text(NodeId id, bool numbered) {
    const Node& node = graph_.nodes[static_cast<std::size_t>(id)];
    if (node.function == "constant") return "#";
    if (node.function == "input") return numbered ? fmt::format("x{}", inputs_.try_emplace(id, inputs_.size()).first->second) : "x";
    if (numbered && node.operands.size() > 0) {
      const auto [known, fresh] = nodes_.try_emplace(id, nodes_.size());
      if (!fresh) return fmt::format("${}", known->second);
    }
    std::vector<NodeId> operands = node.operands;
    if (std::find(exchangeable.begin(), exchangeable.end(), node.function) != exchangeable.end())
      std::stable_sort(operands.begin(), operands.end(), [&](NodeId a, NodeId b) { return plain(a) < plain(b); });
    std::string result = node.function + '(';
    for (const NodeId operand : operands) result += (numbered ? text(operand, true) : plain(operand)) + ',';
    for (const auto& [name, value] : node.attributes)
      if (name != "name") result += name + '=' + attribute_text(name, value) + ',';
    return result + ')';
  }
  const std::string& plain(NodeId id) const { return plain_[static_cast<std::size_t>(id)]; }

  const Graph& graph_;
  std::vector<std::string> plain_;   // of nodes, operands first
  std::map<NodeId, std::size_t> inputs_, nodes_;
};

std::vector<std::string> tokens(std::string_view text) {
  std::vector<std::string> result;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    const bool number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    while (is_word(text[at]) && end < text.size() && (is_word(text[end]) || (number && text[end] == '.'))) ++end;
    result.push_back(number ? "0" : std::string(text.substr(at, end - at)));
    at = end;
  }
  return result;
}

std::set<std::string> triples(std::string_view text) {
  const auto words = tokens(text);
  std::set<std::string> result;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) result.insert(words[i] + ' ' + words[i + 1] + ' ' + words[i + 2]);
  return result;
}

}  // namespace

std::string structure(const Graph& graph) { return Writer(tensor::simplify(graph)).run(); }

std::string structure(const task::Task& task) {
  if (task.torch) return structure(*task.torch);
  std::string code;
  for (const std::string& line : base::split_lines(task.file.source))
    if (!base::trim(line).starts_with("//@")) code += line + '\n';
  return "own " + search::fingerprint(code);
}

std::string group(const std::string& structure) { return base::sha256(structure).substr(0, 16); }

bool is_test(const std::string& structure) {
  const std::string digest = base::sha256(structure);
  unsigned value = 0;
  std::from_chars(digest.data(), digest.data() + 8, value, 16);
  return value % 100 < test_percent;
}

double similarity(std::string_view a, std::string_view b) {
  const auto mine = triples(a), theirs = triples(b);
  if (mine.empty() && theirs.empty()) return tokens(a) == tokens(b) ? 1 : 0;
  std::size_t both = 0;
  for (const std::string& triple : mine) both += theirs.count(triple);
  return static_cast<double>(both) / static_cast<double>(mine.size() + theirs.size() - both);
}

}  // namespace cudal1::curriculum
