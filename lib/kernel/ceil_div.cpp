// SPDX-License-Identifier: Apache-2.0
#include "kernel/ceil_div.hpp"

#include "kernel/expression_node.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;

Node::Pointer make(Node::Kind kind, std::string text, std::vector<Node::Pointer> children) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->text = std::move(text);
  for (const auto& child : children) node->depth = std::max(node->depth, child->depth + 1);
  node->file = std::make_shared<const std::string>();
  node->children = std::move(children);
  return node;
}

bool is_one(const Node& node) { return node.kind == Node::Kind::integer && node.integer == 1; }
std::string text_of(const Node::Pointer& node) { return Expression(node).text(); }

// What is left of a sum when `divisor - 1` is taken out of it, or null.
Node::Pointer without_rounding(const Node::Pointer& sum, const Node::Pointer& divisor) {
  if (sum->kind != Node::Kind::binary) return nullptr;
  const auto& left = sum->children[0];
  const auto& right = sum->children[1];
  if (sum->text == "+") {
    if (right->kind == Node::Kind::integer && divisor->kind == Node::Kind::integer && right->integer == divisor->integer - 1) return left;
    if (right->kind == Node::Kind::binary && right->text == "-" && is_one(*right->children[1]) && text_of(right->children[0]) == text_of(divisor)) return left;
    // (a - 1 + b)
    if (text_of(right) == text_of(divisor) && left->kind == Node::Kind::binary && left->text == "-" && is_one(*left->children[1])) return left->children[0];
  }
  if (sum->text == "-" && is_one(*right) && left->kind == Node::Kind::binary && left->text == "+") {
    if (text_of(left->children[1]) == text_of(divisor)) return left->children[0];
    if (text_of(left->children[0]) == text_of(divisor)) return left->children[1];
  }
  return nullptr;
}

Node::Pointer rewrite(const Node::Pointer& node) {
  std::vector<Node::Pointer> children;
  for (const auto& child : node->children) children.push_back(rewrite(child));
  if (node->kind == Node::Kind::binary && node->text == "/")
    if (const auto rest = without_rounding(children[0], children[1])) return make(Node::Kind::call, "ceil_div", {rest, children[1]});
  if (node->kind == Node::Kind::binary && node->text == "+" && is_one(*children[1])) {
    const auto& quotient = children[0];
    if (quotient->kind == Node::Kind::binary && quotient->text == "/" && quotient->children[0]->kind == Node::Kind::binary &&
        quotient->children[0]->text == "-" && is_one(*quotient->children[0]->children[1]))
      return make(Node::Kind::call, "ceil_div", {quotient->children[0]->children[0], quotient->children[1]});
  }
  auto copy = std::make_shared<Node>(*node);
  copy->children = std::move(children);
  return copy;
}

}  // namespace

Expression with_ceil_div(const Expression& expression) {
  if (expression.empty()) return expression;
  return Expression(rewrite(Node::Pointer(Node::Pointer(), expression.root())));
}

}  // namespace cudal1::kernel
