// SPDX-License-Identifier: Apache-2.0
#include "kernel/size_rules.hpp"

#include "kernel/expectation.hpp"
#include "kernel/expression_node.hpp"
#include "kernel/source_lexer.hpp"

#include <numeric>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

class Reader {
 public:
  Reader(const File& file, const Assignment& assignment) : file_(file) {
    for (const auto& [name, expression] : assignment.values) definitions_[name] = &expression;
    if (const auto values = environment(file, assignment)) values_ = *values;
  }

  SizeRules run() {
    const bool recorded = !expectations(file_).empty();
    for (const Buffer& buffer : file_.buffers) {
      const bool in_file = buffer.distribution && buffer.distribution->kind == tensor::Distribution::Kind::file;
      for (const Expression& extent : buffer.shape)
        if (in_file || recorded) keep(extent);
      if (!buffer.distribution || tensor::is_floating(buffer.dtype) || !buffer.distribution->high_text.empty()) continue;
      if (buffer.distribution->kind == tensor::Distribution::Kind::randint || buffer.distribution->kind == tensor::Distribution::Kind::sorted)
        keep_equal_to(buffer.distribution->high);
      if (buffer.distribution->kind == tensor::Distribution::Kind::offsets && buffer.distribution->low_text.empty()) keep_equal_to(buffer.distribution->low);
    }
    constants();
    steps(file_.plan);
    return std::move(rules_);
  }

 private:
  // Derived sizes are followed to those that they are made of.
  void keep(const Expression& expression, int depth = 0) {
    if (expression.empty() || depth > 8) return;
    for (const std::string& name : expression.names()) {
      const auto found = definitions_.find(name);
      if (found == definitions_.end()) continue;
      rules_.kept.insert(name);
      keep(*found->second, depth + 1);
    }
  }

  // `const int N = 1 << 10;` or `#define N 1024`: the kernels have a value of their own.
  void constants() {
    const std::string code = without_host_part(file_.source);
    for (const SourceToken& token : lex_source(code)) {
      if (token.kind != SourceToken::Kind::preprocessor) continue;
      const auto words = lex_code(token.text.substr(1));
      if (words.size() > 2 && words[0].is("define")) keep_named(words[1].text);
    }
    const auto tokens = lex_code(code);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].is("const") && !tokens[i].is("constexpr")) continue;
      std::size_t k = i + 1;
      while (k < tokens.size() && tokens[k].kind == SourceToken::Kind::identifier) ++k;
      if (k < tokens.size() && tokens[k].is("=")) keep_named(tokens[k - 1].text);
    }
  }

  void keep_named(std::string_view name) {
    if (const auto found = definitions_.find(std::string(name)); found != definitions_.end()) {
      rules_.kept.insert(found->first);
      keep(*found->second);
    }
  }

  void keep_equal_to(double bound) {
    for (const auto& [name, definition] : definitions_) {
      const auto* value = definition->names().empty() && values_.contains(name) ? std::get_if<std::int64_t>(&values_.at(name)) : nullptr;
      if (value != nullptr && static_cast<double>(*value) == bound) rules_.kept.insert(name);
    }
  }

  static bool rounds(const Node& node) {
    if (node.kind == Node::Kind::call || node.kind == Node::Kind::conditional) return true;
    for (const auto& child : node.children)
      if (rounds(*child)) return true;
    return false;
  }

  void block(const Expression& extent) {
    if (!extent.empty() && !rounds(*extent.root())) keep(extent);
  }

  // A division that cuts off: `N / 16`.
  void divisions(const Node& node) {
    if (node.kind == Node::Kind::binary && node.text == "/" && node.children[0]->kind == Node::Kind::name) {
      const std::string& name = node.children[0]->text;
      try {
        const Value by = evaluate_node(*node.children[1], values_);
        const auto* divisor = std::get_if<std::int64_t>(&by);
        const auto found = definitions_.find(name);
        if (divisor != nullptr && *divisor > 1 && found != definitions_.end()) {
          auto& multiple = rules_.multiple_of[name];
          multiple = multiple == 0 ? *divisor : std::lcm(multiple, *divisor);
        }
      } catch (...) {  // a name that is no size, or a division by zero: said where the plan is resolved
      }
    }
    for (const auto& child : node.children) divisions(*child);
  }

  void all(const Expression& expression) {
    if (!expression.empty()) divisions(*expression.root());
  }

  void steps(const std::vector<Step>& plan) {
    for (const Step& step : plan) {
      if (const auto* launch = std::get_if<LaunchStep>(&step.step)) {
        for (const Expression* extent : {&launch->block.x, &launch->block.y, &launch->block.z}) block(*extent);
        for (const Expression* extent : {&launch->grid.x, &launch->grid.y, &launch->grid.z}) all(*extent);
        all(launch->shared_bytes);
        for (const Expression& argument : launch->arguments) all(argument);
      } else if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
        all(repeat->variable.empty() ? repeat->from : repeat->to);
        steps(repeat->body);
      }
    }
  }

  const File& file_;
  std::map<std::string, const Expression*> definitions_;
  Environment values_;
  SizeRules rules_;
};

}  // namespace

SizeRules size_rules(const File& file, const Assignment& assignment) { return Reader(file, assignment).run(); }

}  // namespace cudal1::kernel
