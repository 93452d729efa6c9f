// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "tensor/function.hpp"
#include "tensor/syntax.hpp"
#include "tensor/value.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudal1::tensor {

// Why a torch line cannot be read; leaves parse() as a diagnostic.
struct Failure {
  int column = 1;
  std::string message;
  std::string hint;
  base::Diagnostic::Severity severity = base::Diagnostic::Severity::error;
};

// Turns syntax into nodes: resolves names, spellings and Python's own arithmetic on numbers and sizes.
class Binder {
 public:
  Binder(const std::vector<std::string>& inputs, const std::vector<std::string>& sizes);

  void run(const Syntax& syntax);              // throws Failure
  NodeId result(const std::string& name);      // the node behind a name assigned before; -1 when there is none
  Graph take() { return std::move(graph_); }

 private:
  using Locals = std::map<std::string, Value>;
  struct Argument {
    std::string keyword;
    Value value;
    int column = 1;
  };

  [[noreturn]] void fail(std::string message, std::string hint = {}) const;
  [[noreturn]] void unknown(const std::string& spelling) const;

  Value evaluate(const Syntax& syntax, int index, const Locals* locals);
  Value name(const std::string& text, const Locals* locals);
  Value unary(const std::string& sign, const Value& operand);
  Value binary(const std::string& sign, const Value& left, const Value& right);
  Value attribute(const Value& object, const std::string& text);
  Value subscript(const Syntax& syntax, const Expression& expression, const Locals* locals);
  Value call(const Syntax& syntax, const Expression& expression, const Locals* locals);
  std::optional<Value> composite_call(const std::string& function, const std::vector<Argument>& arguments);
  Value float_of(std::string text);
  std::optional<Value> python_call(const std::string& function, const std::vector<Argument>& arguments);
  Value call_function(const Function& function, std::vector<Argument> arguments);
  Value call_row(const Function& function, std::map<std::string, Value> bound);
  Value call_composite(const Function& function, std::map<std::string, Value> bound);
  std::map<std::string, Value> bind(const Function& function, std::vector<Argument> arguments);
  Value index(const Value& base, const std::vector<Value>& items);
  Value index_tensor(const Value& base, const std::vector<Value>& items);
  std::vector<Value> unpack(const Value& value, std::size_t count);
  Value part(const Value& sequence, std::int64_t index);

  NodeId node_of(const Value& value);  // a tensor, or a number as a constant node
  NodeId add(std::string function, std::vector<NodeId> operands, std::map<std::string, Attribute> attributes);
  NodeId leaf(Node node, const std::string& key);
  Value tensor(NodeId node) const;
  Value list(std::vector<Value> items) const;
  Value size_text(std::string text, int binding) const;
  Value literal(const Number& number) const;
  Attribute attribute_of(const Function& function, const Parameter& parameter, const Value& value) const;

  Graph graph_;
  std::set<std::string> inputs_, sizes_;
  std::map<std::string, Value> names_;
  std::map<std::string, NodeId> leaves_;
  int column_ = 1;
  int composite_depth_ = 0;
};

// Python's text of a number that is a literal, and of a value of sizes.
std::string python_text(const Attribute& number);

Number number_of(const Attribute& literal);            // throws Refusal for anything else
bool truth_of(const Value& value, bool& result);       // Python's truth; false: not known before the sizes are

}  // namespace cudal1::tensor
