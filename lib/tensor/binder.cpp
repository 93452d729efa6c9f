// SPDX-License-Identifier: Apache-2.0
#include "tensor/binder.hpp"

#include "base/text.hpp"
#include "tensor/quantity.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Value::Kind;
constexpr std::size_t node_limit = 20000, list_limit = 512, size_text_limit = 1000;

std::size_t weight(const Value& value) {
  std::size_t sum = 1;
  for (const Value& item : value.items) sum += weight(item);
  return sum;
}

std::string kind_name(const Value& value) {
  switch (value.kind) {
    case Kind::none: return "None";
    case Kind::tensor: return "a tensor";
    case Kind::scalar: return "a number";
    case Kind::word: return fmt::format("'{}'", value.text);
    case Kind::dtype: return "torch." + value.text;
    case Kind::list: return "a list";
    case Kind::shape: return "a shape";
    case Kind::sequence: return "a list of tensors";
    case Kind::module: return value.text;
    case Kind::callable: return "a function without its call";
    case Kind::ellipsis: return "...";
    case Kind::slice: return "a slice";
  }
  return {};
}

}  // namespace

Number number_of(const Attribute& number) {
  if (const auto* truth = std::get_if<bool>(&number)) return Number::of(*truth ? 1 : 0);
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return Number::of(*integer);
  if (const auto* real = std::get_if<double>(&number)) return Number::of_real(*real);
  throw Refusal("a number is expected");
}

bool truth_of(const Value& value, bool& result) {
  if (value.is(Kind::none)) return result = false, true;
  if (value.is(Kind::word)) return result = !value.text.empty(), true;
  if (value.literal()) return result = number_of(value.number).value != 0, true;
  return false;
}

std::string python_text(const Attribute& number) {
  if (const auto* truth = std::get_if<bool>(&number)) return *truth ? "True" : "False";
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return std::to_string(*integer);
  if (const auto* text = std::get_if<SizeText>(&number)) return text->text;
  if (const auto* real = std::get_if<double>(&number)) {
    if (std::isnan(*real)) return "float('nan')";
    if (std::isinf(*real)) return *real < 0 ? "float('-inf')" : "float('inf')";
    std::string text = fmt::format("{}", *real);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  return "None";
}

Binder::Binder(const std::vector<std::string>& inputs, const std::vector<std::string>& sizes)
    : inputs_(inputs.begin(), inputs.end()), sizes_(sizes.begin(), sizes.end()) {}

void Binder::fail(std::string message, std::string hint) const { throw Failure{column_, std::move(message), std::move(hint)}; }

void Binder::unknown(const std::string& spelling) const {
  const std::string shown = spelling.front() == '.' ? "Tensor" + spelling : spelling;
  Failure failure{column_, fmt::format("{} is not known to the evaluator", shown), {}, base::Diagnostic::Severity::warning};
  const std::string prefix = spelling.substr(0, spelling.rfind('.') + 1);
  std::vector<std::string> candidates;
  for (const std::string& known : all_spellings())
    if (known.starts_with(prefix) && known.find('.', prefix.size()) == std::string::npos) candidates.push_back(known.substr(prefix.size()));
  if (const auto near = base::nearest(spelling.substr(prefix.size()), candidates))
    failure.hint = fmt::format("did you mean {}{}?", prefix.front() == '.' ? "Tensor." : prefix, *near);
  else
    failure.hint = "the task has no oracle unless the line is written with functions that are known";
  throw failure;
}

void Binder::run(const Syntax& syntax) {
  for (const Statement& statement : syntax.statements) {
    column_ = statement.column;
    try {
      const Value value = evaluate(syntax, statement.value, nullptr);
      if (statement.targets.empty()) fail("a statement assigns nothing; write NAME = expression");
      if (statement.targets.size() == 1) {
        names_[statement.targets.front()] = value;
        continue;
      }
      const std::vector<Value> parts = unpack(value, statement.targets.size());
      for (std::size_t i = 0; i < parts.size(); ++i) names_[statement.targets[i]] = parts[i];
    } catch (const Refusal& refusal) {
      fail(refusal.what());
    }
  }
}

NodeId Binder::result(const std::string& name) {
  const auto found = names_.find(name);
  if (found == names_.end()) return -1;
  column_ = 1;
  if (!found->second.is(Kind::tensor) && !found->second.is(Kind::scalar))
    fail(fmt::format("the output {} is {}, not a tensor", name, kind_name(found->second)));
  return node_of(found->second);
}

Value Binder::tensor(NodeId node) const {
  Value value;
  value.kind = Kind::tensor;
  value.node = node;
  return value;
}

Value Binder::list(std::vector<Value> items) const {
  Value value;
  value.kind = Kind::list;
  value.items = std::move(items);
  if (weight(value) > list_limit) fail("a list is longer than 512 items");
  return value;
}

Value Binder::size_text(std::string text, int binding) const {
  if (text.size() > size_text_limit) fail("an expression of sizes is longer than 1000 characters");
  Value value;
  value.kind = Kind::scalar;
  value.number = SizeText{std::move(text)};
  value.binding = binding;
  return value;
}

Value Binder::literal(const Number& number) const {
  Value value;
  value.kind = Kind::scalar;
  if (number.real) value.number = number.value;
  else value.number = number.integer;
  return value;
}

NodeId Binder::add(std::string function, std::vector<NodeId> operands, std::map<std::string, Attribute> attributes) {
  if (graph_.nodes.size() >= node_limit) fail("the torch line has more than 20000 operations");
  graph_.nodes.push_back({std::move(function), std::move(operands), std::move(attributes), column_});
  return static_cast<NodeId>(graph_.nodes.size()) - 1;
}

NodeId Binder::leaf(Node node, const std::string& key) {
  const auto [at, fresh] = leaves_.try_emplace(key, 0);
  if (fresh) at->second = add(std::move(node.function), {}, std::move(node.attributes));
  return at->second;
}

NodeId Binder::node_of(const Value& value) {
  if (value.is(Kind::tensor)) return value.node;
  if (value.is(Kind::scalar)) {
    Node node;
    node.function = "constant";
    node.attributes["value"] = value.number;
    return leaf(std::move(node), "constant " + python_text(value.number));
  }
  fail(fmt::format("expected a tensor, not {}", kind_name(value)));
}

Value Binder::name(const std::string& text, const Locals* locals) {
  if (text == "None") return {};
  if (text == "True" || text == "False") {
    Value value;
    value.kind = Kind::scalar;
    value.number = text == "True";
    return value;
  }
  if (locals != nullptr) {
    const auto found = locals->find(text);
    if (found != locals->end()) return found->second;
  } else {
    const auto found = names_.find(text);
    if (found != names_.end()) return found->second;
    if (inputs_.count(text) != 0) {
      Node node;
      node.function = "input";
      node.attributes["name"] = text;
      return tensor(leaf(std::move(node), "input " + text));
    }
    if (sizes_.count(text) != 0) return size_text(text, 5);
  }
  if (text == "torch" || text == "F" || text == "math" || text == "nn" || text == "np") {
    Value value;
    value.kind = Kind::module;
    value.text = text == "nn" ? "torch.nn" : text == "np" ? "math" : text;
    return value;
  }
  std::vector<std::string> candidates(inputs_.begin(), inputs_.end());
  candidates.insert(candidates.end(), sizes_.begin(), sizes_.end());
  for (const auto& each : names_) candidates.push_back(each.first);
  const auto near = base::nearest(text, candidates);
  fail(fmt::format("\"{}\" is no input, no size and not assigned before", text), near ? fmt::format("did you mean \"{}\"?", *near) : "");
}

Value Binder::subscript(const Syntax& syntax, const Expression& expression, const Locals* locals) {
  const auto child = [&](std::size_t i) { return evaluate(syntax, expression.children[i], locals); };
  const Value base = child(0);
  std::vector<Value> items;
  for (std::size_t i = 1; i < expression.children.size(); ++i) items.push_back(child(i));
  if (items.size() == 1 && items[0].is(Kind::list) && base.is(Kind::tensor)) {
    std::vector<Value> inner = items[0].items;
    items = std::move(inner);
  }
  if (locals == nullptr) column_ = expression.column;
  return this->index(base, items);
}

Value Binder::evaluate(const Syntax& syntax, int index_, const Locals* locals) {
  const Expression& expression = syntax.expressions[static_cast<std::size_t>(index_)];
  using Form = Expression::Kind;
  const auto child = [&](std::size_t i) { return evaluate(syntax, expression.children[i], locals); };
  if (locals == nullptr) column_ = expression.column;
  Value value;
  switch (expression.kind) {
    case Form::name: return name(expression.text, locals);
    case Form::integer: return literal(Number::of(expression.integer));
    case Form::real: return literal(Number::of_real(expression.real));
    case Form::text:
      value.kind = Kind::word;
      value.text = expression.text;
      return value;
    case Form::tuple:
    case Form::list: {
      std::vector<Value> items;
      for (std::size_t i = 0; i < expression.children.size(); ++i) items.push_back(child(i));
      return list(std::move(items));
    }
    case Form::unary: {
      const Value operand = child(0);
      if (locals == nullptr) column_ = expression.column;
      return unary(expression.text, operand);
    }
    case Form::binary: {
      const Value left = child(0);
      bool truth = false;
      if (expression.text == "and" || expression.text == "or") {
        if (!truth_of(left, truth)) fail(fmt::format("\"{}\" needs values that are known; use & and | on tensors", expression.text));
        return truth == (expression.text == "or") ? left : child(1);
      }
      const Value right = child(1);
      if (locals == nullptr) column_ = expression.column;
      return binary(expression.text, left, right);
    }
    case Form::choice: {
      bool truth = false;
      if (!truth_of(child(1), truth)) fail("the condition of \"if\" must be known before the sizes are; use torch.where");
      return child(truth ? 0 : 2);
    }
    case Form::attribute: {
      const Value object = child(0);
      if (locals == nullptr) column_ = expression.column;
      return attribute(object, expression.text);
    }
    case Form::call: return call(syntax, expression, locals);
    case Form::index: return subscript(syntax, expression, locals);
    case Form::slice:
      value.kind = Kind::slice;
      for (const int each : expression.children) value.items.push_back(each < 0 ? Value{} : evaluate(syntax, each, locals));
      return value;
    case Form::ellipsis: value.kind = Kind::ellipsis; return value;
  }
  return value;
}

Value Binder::attribute(const Value& object, const std::string& text) {
  Value value;
  if (object.is(Kind::module)) {
    const std::string path = object.text + "." + text;
    if (path == "torch.nn.functional") {
      value.kind = Kind::module;
      value.text = "F";
      return value;
    }
    if (path == "torch.nn" || path == "torch.linalg" || path == "torch.special") {
      value.kind = Kind::module;
      value.text = path;
      return value;
    }
    if (object.text == "torch" || object.text == "math") {
      if (text == "pi") return literal(Number::of_real(3.14159265358979323846));
      if (text == "e") return literal(Number::of_real(2.71828182845904523536));
      if (text == "inf") return literal(Number::of_real(INFINITY));
      if (text == "nan") return literal(Number::of_real(NAN));
    }
    if (object.text == "torch") {
      const std::string canonical = text == "float" ? "float32" : text == "double" ? "float64" : text == "half" ? "float16"
                                    : text == "long" ? "int64" : text == "int" ? "int32" : text;
      if (parse_dtype(canonical)) {
        value.kind = Kind::dtype;
        value.text = canonical;
        return value;
      }
    }
    value.kind = Kind::callable;
    value.text = path;
    return value;
  }
  if (object.is(Kind::list) && (text == "values" || text == "indices") && object.items.size() == 2)
    return object.items[text == "values" ? 0 : 1];
  if (object.is(Kind::scalar)) return attribute(tensor(node_of(object)), text);
  // `torch.fft.fft`: a function of a module that is not known, which the call says.
  if (object.is(Kind::callable) && object.text.starts_with("torch.") && object.items.empty()) {
    value.kind = Kind::callable;
    value.text = object.text + "." + text;
    return value;
  }
  if (!object.is(Kind::tensor)) fail(fmt::format("{} has no attribute {}", kind_name(object), text));
  if (text == "shape") {
    value.kind = Kind::shape;
    value.node = object.node;
    value.number = SizeText{fmt::format("${}.shape", object.node)};
    return value;
  }
  if (text == "T") return tensor(add("permute", {object.node}, {{"dims", std::monostate{}}}));
  if (text == "mT" || text == "H" || text == "mH")
    return tensor(add("transpose", {object.node}, {{"dim0", std::int64_t{-2}}, {"dim1", std::int64_t{-1}}}));
  value.kind = Kind::callable;
  value.text = "." + text;
  value.items = {object};
  return value;
}

Value Binder::call(const Syntax& syntax, const Expression& expression, const Locals* locals) {
  const Expression& callee = syntax.expressions[static_cast<std::size_t>(expression.children[0])];
  const int column = callee.column;
  Value function;
  if (callee.kind == Expression::Kind::name) {
    function.kind = Kind::callable;
    function.text = callee.text;
  } else {
    function = evaluate(syntax, expression.children[0], locals);
  }
  std::vector<Argument> arguments;
  for (const Value& self : function.items) arguments.push_back({"", self, column});
  for (std::size_t i = 1; i < expression.children.size(); ++i) {
    const Expression& child = syntax.expressions[static_cast<std::size_t>(expression.children[i])];
    if (child.kind == Expression::Kind::unary && child.text == "*") {
      Value value = evaluate(syntax, child.children[0], locals);
      if (value.is(Kind::list)) {
        for (Value& item : value.items) arguments.push_back({"", item, child.column});
      } else {
        arguments.push_back({"", value, child.column});
      }
      continue;
    }
    arguments.push_back({expression.keywords[i], evaluate(syntax, expression.children[i], locals), child.column});
  }
  if (locals == nullptr) column_ = column;
  if (!function.is(Kind::callable)) fail(fmt::format("{} cannot be called", kind_name(function)));
  const std::string& spelling = function.text;
  if (auto value = python_call(spelling, arguments)) return *value;
  const Function* known = spelling.find('.') == std::string::npos ? find_function(spelling) : find_spelling(spelling);
  if (known == nullptr && spelling.starts_with("torch.special.")) known = find_spelling("torch." + spelling.substr(14));
  // x.relu_() in place: the result is what counts.
  if (known == nullptr && spelling.size() > 2 && spelling.back() == '_') known = find_spelling(spelling.substr(0, spelling.size() - 1));
  if (known == nullptr) unknown(spelling);
  return call_function(*known, std::move(arguments));
}

std::vector<Value> Binder::unpack(const Value& value, std::size_t count) {
  std::vector<Value> parts;
  if (value.is(Kind::list)) parts = value.items;
  if (value.is(Kind::tensor) || value.is(Kind::shape) || value.is(Kind::sequence))
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (value.is(Kind::sequence)) parts.push_back(part(value, at));
      else parts.push_back(this->index(value, {literal(Number::of(at))}));
    }
  const bool wrong_count = value.is(Kind::sequence) && value.count >= 0 && value.count != static_cast<std::int64_t>(count);
  if (parts.size() != count || wrong_count)
    fail(fmt::format("{} names are given for {}{}", count, kind_name(value),
                     value.is(Kind::list) ? fmt::format(" of {}", value.items.size()) : wrong_count ? fmt::format(" ({})", value.count) : ""));
  return parts;
}

Value Binder::part(const Value& sequence, std::int64_t at) {
  if (at < 0 && sequence.count >= 0) at += sequence.count;
  if (at < 0 || (sequence.count >= 0 && at >= sequence.count)) fail(fmt::format("part {} does not exist", at));
  Node node = *sequence.part;
  node.attributes["index"] = at;
  return tensor(add(node.function, node.operands, node.attributes));
}

}  // namespace cudal1::tensor
