// SPDX-License-Identifier: Apache-2.0
#include "kernel/substitute.hpp"

#include "kernel/expression_node.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

Node::Pointer substitute(const Node::Pointer& node, const Environment& values) {
  auto copy = std::make_shared<Node>(*node);
  if (node->kind == Node::Kind::name) {
    const auto found = values.find(node->text);
    if (found == values.end()) return node;
    if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
      copy->kind = Node::Kind::integer;
      copy->integer = *integer;
    } else if (const auto* boolean = std::get_if<bool>(&found->second)) {
      copy->kind = Node::Kind::boolean;
      copy->integer = *boolean;
    } else {
      copy->kind = Node::Kind::real;
      copy->real = std::get<double>(found->second);
    }
    copy->text.clear();
    return copy;
  }
  for (auto& child : copy->children) child = substitute(child, values);
  // The larger of two numbers is a number: `max(128, 128)` is what nobody would write.
  const bool choice = node->kind == Node::Kind::call && (node->text == "max" || node->text == "min");
  if (choice && std::all_of(copy->children.begin(), copy->children.end(), [](const auto& child) { return child->kind == Node::Kind::integer; }))
    return *std::max_element(copy->children.begin(), copy->children.end(),
                             [&](const auto& a, const auto& b) { return node->text == "max" ? a->integer < b->integer : b->integer < a->integer; });
  return copy;
}

void substitute(Expression& expression, const Environment& values) {
  if (expression.empty()) return;
  // An aliasing pointer without ownership is enough to read the root.
  const Node::Pointer root(Node::Pointer(), expression.root());
  if (const Node::Pointer copy = substitute(root, values); copy.get() != root.get()) expression = Expression(copy);
}

// Names in the template arguments; a name after `::` belongs to a namespace.
std::string substitute(const std::string& kernel, const Environment& values) {
  std::string text;
  bool arguments = false, qualified = false;
  for (const SourceToken& token : lex_code(kernel)) {
    if (token.is("<")) arguments = true;
    const auto found = values.find(std::string(token.text));
    const bool replace = arguments && !qualified && token.kind == SourceToken::Kind::identifier && found != values.end();
    if (token.is(",")) {
      text += ", ";
    } else if (replace) {
      const auto* integer = std::get_if<std::int64_t>(&found->second);
      text += integer == nullptr ? std::string(token.text) : *integer < 0 ? fmt::format("({})", *integer) : fmt::format("{}", *integer);
    } else {
      const bool words = !text.empty() && (std::isalnum(static_cast<unsigned char>(text.back())) || text.back() == '_') &&
                         token.kind == SourceToken::Kind::identifier;
      if (words) text += ' ';
      text += token.text;
    }
    qualified = token.is("::");
  }
  return text;
}

void substitute(std::vector<Step>& steps, const Environment& values) {
  for (Step& step : steps) {
    if (auto* launch = std::get_if<LaunchStep>(&step.step)) {
      launch->kernel = substitute(launch->kernel, values);
      for (Dim3Expression* dim : {&launch->grid, &launch->block, &launch->cluster})
        for (Expression* part : {&dim->x, &dim->y, &dim->z}) substitute(*part, values);
      substitute(launch->shared_bytes, values);
      for (Expression& argument : launch->arguments) substitute(argument, values);
    } else if (auto* repeat = std::get_if<RepeatStep>(&step.step)) {
      substitute(repeat->from, values);
      substitute(repeat->to, values);
      substitute(repeat->body, values);
    }
  }
}

}  // namespace

File with_tunables_fixed(File file, const Environment& tunables) {
  for (Scratch& scratch : file.scratches)
    for (Expression& extent : scratch.shape) substitute(extent, tunables);
  substitute(file.plan, tunables);
  file.tunables.clear();
  return file;
}

}  // namespace cudal1::kernel
