// SPDX-License-Identifier: Apache-2.0
#include "kernel/launcher_expression.hpp"

#include "kernel/expression_node.hpp"

#include <limits>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

class Spelling {
 public:
  Spelling(const std::set<std::string>& reals, std::set<std::string>& called) : reals_(reals), called_(called) {}

  void write(const Node& node) {
    switch (node.kind) {
      case Node::Kind::integer:
        if (node.integer == std::numeric_limits<std::int64_t>::min())
          out += "(-9223372036854775807LL - 1)";
        else
          out += node.integer < 0 ? fmt::format("({}LL)", node.integer) : fmt::format("{}LL", node.integer);
        break;
      case Node::Kind::real: out += real_text(node.real); break;
      case Node::Kind::boolean: out += node.integer ? "true" : "false"; break;
      case Node::Kind::name: out += reals_.contains(node.text) ? fmt::format("(double){}", node.text) : node.text; break;
      case Node::Kind::negate:
      case Node::Kind::logical_not:
        out += node.text;
        child(*node.children[0], true);
        break;
      case Node::Kind::binary: {
        const int level = precedence(node);
        child(*node.children[0], precedence(*node.children[0]) < level);
        out += fmt::format(" {} ", node.text);
        child(*node.children[1], precedence(*node.children[1]) <= level);
        break;
      }
      case Node::Kind::conditional:
        child(*node.children[0], true);
        out += " ? ";
        child(*node.children[1], true);
        out += " : ";
        child(*node.children[2], true);
        break;
      case Node::Kind::call: call(node); break;
    }
  }

  std::string out;

 private:
  void child(const Node& node, bool brackets) {
    if (brackets) out += '(';
    write(node);
    if (brackets) out += ')';
  }

  void call(const Node& node) {
    called_.insert(node.text);
    if (node.text == "sqrt") {
      out += "sqrt(";
      write(*node.children[0]);
      out += ")";
      return;
    }
    // min and max of many are those of two, nested.
    for (std::size_t i = 1; i < node.children.size(); ++i) out += node.text + "(";
    write(*node.children[0]);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      out += ", ";
      write(*node.children[i]);
      out += ")";
    }
  }

  const std::set<std::string>& reals_;
  std::set<std::string>& called_;
};

}  // namespace

std::string LauncherExpressions::text(const Expression& expression) {
  Spelling spelling(reals_, called_);
  spelling.write(*expression.root());
  return spelling.out;
}

std::string LauncherExpressions::operand(const Expression& expression) {
  const std::string out = text(expression);
  return expression.root()->children.empty() ? out : "(" + out + ")";
}

std::string LauncherExpressions::functions() const {
  std::string out;
  if (called_.contains("ceil_div"))
    out += "  const auto ceil_div = [](long long a, long long b) { return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0); };\n";
  if (called_.contains("min")) out += "  const auto min = [](auto a, auto b) { return b < a ? b : a; };\n";
  if (called_.contains("max")) out += "  const auto max = [](auto a, auto b) { return a < b ? b : a; };\n";
  if (called_.contains("sqrt")) out += "  const auto sqrt = [](double a) { return ::sqrt(a); };\n";
  return out;
}

}  // namespace cudal1::kernel
