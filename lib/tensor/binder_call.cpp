// SPDX-License-Identifier: Apache-2.0
#include "tensor/binder.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

using Kind = Value::Kind;
using Wanted = Parameter::Kind;

// Arguments that say where or how, not what.
constexpr std::string_view ignored[] = {"inplace", "device", "requires_grad", "memory_format", "layout", "non_blocking", "copy",
                                        "return_indices", "sparse", "scale_grad_by_freq", "size_average", "reduce", "stacklevel",
                                        "_stacklevel", "pin_memory", "sorted", "stable", "largest_first"};
constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
    {"axis", "dim"}, {"keepdims", "keepdim"}, {"self", "input"}, {"x", "input"}, {"inputs", "input"}, {"axes", "dims"}, {"dim", "dims"},
    {"dims", "dim"}, {"other", "dim"}, {"ord", "p"}, {"tensors", "operands"}, {"size", "shape"}, {"a", "input"}, {"b", "other"}, {"mat2", "other"}, {"vec", "other"}};

bool is_tensor_kind(Wanted kind) { return kind == Wanted::tensor || kind == Wanted::optional_tensor || kind == Wanted::tensors; }

// Whether loose arguments from here on are one list: x.view(2, 3), torch.zeros(N, M), einsum("ij,jk", a, b).
bool takes_all(const Parameter& parameter) {
  if (parameter.kind == Wanted::tensors) return true;
  return parameter.kind == Wanted::integers && (parameter.name == "shape" || parameter.name == "size" || parameter.name == "sizes" ||
                                                parameter.name == "dims" || parameter.name == "repeats");
}

std::string number_list(const std::vector<std::string>& parts) {
  std::string text = "(";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", " : "") + parts[i];
  return text + (parts.size() == 1 ? ",)" : ")");
}

}  // namespace

// The few words that composites are written with.
std::optional<Value> Binder::composite_call(const std::string& function, const std::vector<Argument>& arguments) {
  const auto value = [&](std::size_t i) -> const Value& { return arguments[i].value; };
  const auto truth = [](bool is) {
    Value result;
    result.kind = Kind::scalar;
    result.number = is;
    return result;
  };
  if (function == "is_tensor") return truth(value(0).is(Kind::tensor));
  if (function == "is_number") return truth(value(0).is(Kind::scalar));
  if (function == "is_dtype") return truth(value(0).is(Kind::dtype));
  if (function == "is_bool") return truth(value(0).is(Kind::scalar) && std::holds_alternative<bool>(value(0).number));
  if (function == "is_list") return truth(value(0).is(Kind::list) || value(0).is(Kind::shape));
  if (function == "scaled") {
    const bool one = value(1).literal() && !std::holds_alternative<bool>(value(1).number) &&
                     (value(1).number == Attribute{std::int64_t{1}} || value(1).number == Attribute{1.0});
    return one ? value(0) : binary("*", value(0), value(1));
  }
  if (function == "shape_of") return attribute(value(0), "shape");
  if (function == "refuse") unknown(value(0).text);
  if (function == "parts") {  // parts('split', input, count or None, attribute, value, …)
    Value result;
    result.kind = Kind::sequence;
    result.part = std::make_shared<Node>();
    result.part->function = value(0).text;
    result.part->operands = {node_of(value(1))};
    if (value(2).is(Kind::scalar))
      if (const auto* count = std::get_if<std::int64_t>(&value(2).number)) result.count = *count;
    if (value(2).is(Kind::list)) result.count = static_cast<std::int64_t>(value(2).items.size());
    const Function* row = find_function(value(0).text);
    for (std::size_t i = 3; i + 1 < arguments.size(); i += 2)
      for (const Parameter& parameter : row->parameters)
        if (parameter.name == value(i).text) result.part->attributes[value(i).text] = attribute_of(*row, parameter, value(i + 1));
    return result;
  }
  return std::nullopt;
}

// The number that Python's float() makes of a word.
Value Binder::float_of(std::string text) {
  const std::string written = text;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text == "inf" || text == "+inf" || text == "infinity") return literal(Number::of_real(INFINITY));
  if (text == "-inf" || text == "-infinity") return literal(Number::of_real(-INFINITY));
  if (text == "nan") return literal(Number::of_real(NAN));
  fail(fmt::format("float('{}') is not known", written));
}

// Python's own functions, those of `math`, and in composites their words.
std::optional<Value> Binder::python_call(const std::string& function, const std::vector<Argument>& arguments) {
  const auto value = [&](std::size_t i) -> const Value& { return arguments[i].value; };
  if (composite_depth_ > 0)
    if (auto value_of_word = composite_call(function, arguments)) return value_of_word;
  if (function == "torch.tensor" || function == "torch.as_tensor" || function == "torch.scalar_tensor") {
    if (arguments.empty() || !value(0).is(Kind::scalar)) fail(fmt::format("{} takes one number", function));
    for (const Argument& each : arguments)
      if (each.value.is(Kind::dtype)) {
        Node node;
        return tensor(add("cast", {node_of(value(0))}, {{"dtype", each.value.text}}));
      }
    return tensor(node_of(value(0)));
  }
  if (function == "len" && arguments.size() == 1 && value(0).is(Kind::list)) return literal(Number::of(static_cast<std::int64_t>(value(0).items.size())));
  if (function == "tuple" || function == "list")
    if (arguments.size() == 1 && (value(0).is(Kind::list) || value(0).is(Kind::shape))) return value(0);
  if (function == ".size" || function == ".numel" || function == "torch.numel") {
    if (arguments.empty() || !value(0).is(Kind::tensor)) fail("size and numel belong to a tensor");
    if (function != ".size") return size_text(fmt::format("${}.numel()", value(0).node), 5);
    const Value shape = attribute(value(0), "shape");
    return arguments.size() == 1 ? shape : index(shape, {value(1)});
  }
  const std::string_view plain = std::string_view(function).starts_with("math.") ? std::string_view(function).substr(5) : function;
  const bool math = plain.size() != function.size();
  if (math && (plain == "prod" || !is_unary(plain)) && plain != "pow") unknown(function);
  if (function == "bool" && arguments.size() == 1) return arguments[0].value;
  if (!math && function != "float" && function != "int" && function != "abs" && function != "round" && function != "min" && function != "max")
    return std::nullopt;
  if (function == "float" && arguments.size() == 1 && value(0).is(Kind::word)) return float_of(value(0).text);
  for (const Argument& each : arguments)
    if (!each.value.is(Kind::scalar)) {
      if (math || function == "float" || function == "int") fail(fmt::format("{} takes numbers", function));
      return std::nullopt;  // abs, min and max of tensors are functions of the table
    }
  if (function == "math.pow" && arguments.size() == 2) return binary("**", value(0), value(1));
  if ((function == "min" || function == "max") && arguments.size() == 2) {
    const auto number = [](const Value& v) {
      if (const auto* i = std::get_if<std::int64_t>(&v.number)) return Number::of(*i);
      if (const auto* b = std::get_if<bool>(&v.number)) return Number::of(*b ? 1 : 0);
      return Number::of_real(std::get<double>(v.number));
    };
    if (value(0).literal() && value(1).literal()) return literal(arithmetic(function, number(value(0)), number(value(1))));
    return size_text(fmt::format("{}({}, {})", function, python_text(value(0).number), python_text(value(1).number)), 5);
  }
  if (arguments.size() != 1) fail(fmt::format("{} takes {} number{}", function, function == "min" || function == "max" || function == "math.pow" ? 2 : 1,
                                              function == "min" || function == "max" ? "s" : ""));
  if (value(0).literal()) {
    const Attribute& number = value(0).number;
    if (const auto* real = std::get_if<double>(&number)) return literal(arithmetic(plain, Number::of_real(*real)));
    if (const auto* b = std::get_if<bool>(&number)) return literal(arithmetic(plain, Number::of(*b ? 1 : 0)));
    return literal(arithmetic(plain, Number::of(std::get<std::int64_t>(number))));
  }
  return size_text(fmt::format("{}({})", function, python_text(value(0).number)), 5);
}

std::map<std::string, Value> Binder::bind(const Function& function, std::vector<Argument> arguments) {
  std::map<std::string, Value> bound;
  const auto find = [&](std::string_view name) {
    return std::find_if(function.parameters.begin(), function.parameters.end(), [&](const Parameter& p) { return p.name == name; });
  };
  std::size_t position = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Argument& argument = arguments[i];
    if (!argument.keyword.empty()) {
      auto parameter = find(argument.keyword);
      for (const auto& [from, to] : synonyms)
        if (parameter == function.parameters.end() && from == argument.keyword) parameter = find(to);
      if (parameter == function.parameters.end()) {
        if (std::find(std::begin(ignored), std::end(ignored), argument.keyword) != std::end(ignored)) continue;
        std::vector<std::string> names;
        for (const Parameter& each : function.parameters) names.push_back(each.name);
        const auto near = base::nearest(argument.keyword, names);
        column_ = composite_depth_ == 0 ? argument.column : column_;
        fail(fmt::format("{} has no parameter \"{}\"", function.signature, argument.keyword), near ? fmt::format("did you mean \"{}\"?", *near) : "");
      }
      if (!bound.emplace(parameter->name, std::move(argument.value)).second) fail(fmt::format("{} is given twice to {}", parameter->name, function.signature));
      continue;
    }
    if (position >= function.parameters.size()) fail(fmt::format("{} is given {} arguments", function.signature, arguments.size()));
    const Parameter& parameter = function.parameters[position++];
    const bool loose = takes_all(parameter) && (argument.value.is(Kind::scalar) || argument.value.is(Kind::tensor));
    if (loose) {
      std::vector<Value> items;
      for (; i < arguments.size() && arguments[i].keyword.empty(); ++i) items.push_back(std::move(arguments[i].value));
      --i;
      bound[parameter.name] = list(std::move(items));
      continue;
    }
    if (bound.count(parameter.name) != 0) fail(fmt::format("{} is given twice to {}", parameter.name, function.signature));
    bound.emplace(parameter.name, std::move(argument.value));
  }
  for (const Parameter& parameter : function.parameters)
    if (parameter.required && bound.count(parameter.name) == 0) fail(fmt::format("{} misses its {}", function.signature, parameter.name));
  return bound;
}

Value Binder::call_function(const Function& function, std::vector<Argument> arguments) {
  auto bound = bind(function, std::move(arguments));
  return function.row != nullptr ? call_row(function, std::move(bound)) : call_composite(function, std::move(bound));
}

Value Binder::call_row(const Function& function, std::map<std::string, Value> bound) {
  std::vector<NodeId> operands;
  std::map<std::string, Attribute> attributes;
  for (const Parameter& parameter : function.parameters) {
    const auto found = bound.find(parameter.name);
    if (!is_tensor_kind(parameter.kind)) {
      attributes[parameter.name] = found == bound.end() ? parameter.value : attribute_of(function, parameter, found->second);
      continue;
    }
    if (found == bound.end() || (found->second.is(Kind::none) && !parameter.required)) {
      attributes[parameter.name] = std::monostate{};
    } else if (parameter.kind == Wanted::tensors) {
      if (found->second.is(Kind::sequence) && found->second.count >= 0 && found->second.count <= 64) {
        for (std::int64_t i = 0; i < found->second.count; ++i) operands.push_back(part(found->second, i).node);
        continue;
      }
      if (!found->second.is(Kind::list)) fail(fmt::format("{} of {} must be a list of tensors", parameter.name, function.signature));
      for (const Value& item : found->second.items) operands.push_back(node_of(item));
      if (operands.empty()) fail(fmt::format("{} of {} is empty", parameter.name, function.signature));
    } else {
      operands.push_back(node_of(found->second));
    }
  }
  return tensor(add(function.name, std::move(operands), std::move(attributes)));
}

Value Binder::call_composite(const Function& function, std::map<std::string, Value> bound) {
  for (const Parameter& parameter : function.parameters) {
    if (bound.count(parameter.name) != 0) continue;
    Value value;
    const Attribute& fallback = parameter.value;
    if (const auto* word = std::get_if<std::string>(&fallback)) {
      value.kind = Kind::word;
      value.text = *word;
    } else if (const auto* list_of = std::get_if<std::vector<std::int64_t>>(&fallback)) {
      value = literal(Number::of(list_of->front()));
    } else if (!std::holds_alternative<std::monostate>(fallback)) {
      value.kind = Kind::scalar;
      value.number = fallback;
    }
    bound[parameter.name] = std::move(value);
  }
  if (composite_depth_ > 8) fail("a function is defined by itself");
  const auto syntax = read_syntax(function.composite->body);
  if (!syntax) fail(syntax.error().message);
  ++composite_depth_;
  Value result = evaluate(*syntax, syntax->statements.front().value, &bound);
  --composite_depth_;
  return result;
}

Attribute Binder::attribute_of(const Function& function, const Parameter& parameter, const Value& value) const {
  const auto refuse = [&](const char* wanted) { fail(fmt::format("{} of {} must be {}", parameter.name, function.signature, wanted)); };
  if (value.is(Kind::none)) {
    if (parameter.required && parameter.kind != Wanted::integers) refuse("given, not None");
    return std::monostate{};
  }
  const auto as_integer = [&](const Value& each) -> Attribute {
    if (!each.is(Kind::scalar)) refuse("an integer");
    if (const auto* truth = std::get_if<bool>(&each.number)) return std::int64_t{*truth};
    if (std::holds_alternative<double>(each.number)) refuse("an integer");
    return each.number;
  };
  switch (parameter.kind) {
    case Wanted::integer: return as_integer(value);
    case Wanted::number:
      if (value.is(Kind::word)) return value.text;
      if (!value.is(Kind::scalar)) refuse("a number");
      if (const auto* truth = std::get_if<bool>(&value.number)) return std::int64_t{*truth};
      return value.number;
    case Wanted::truth:
      if (!value.literal()) refuse("True or False");
      if (const auto* truth = std::get_if<bool>(&value.number)) return *truth;
      if (const auto* integer = std::get_if<std::int64_t>(&value.number)) return *integer != 0;
      refuse("True or False");
      break;
    case Wanted::word:
      if (!value.is(Kind::word)) refuse("a word in quotes");
      return value.text;
    case Wanted::dtype:
      if (!value.is(Kind::dtype) && !value.is(Kind::word)) refuse("a dtype such as torch.float32");
      if (!parse_dtype(value.text)) refuse("a dtype such as torch.float32");
      return value.text;
    case Wanted::integers: {
      if (value.is(Kind::word)) return value.text;
      if (value.is(Kind::shape)) return value.number;
      if (value.is(Kind::scalar)) {
        const Attribute one = as_integer(value);
        if (const auto* integer = std::get_if<std::int64_t>(&one)) return std::vector<std::int64_t>{*integer};
        return one;
      }
      if (!value.is(Kind::list)) refuse("an integer or a list of integers");
      std::vector<std::int64_t> integers;
      std::vector<std::string> texts;
      for (const Value& item : value.items) {
        const Attribute each = as_integer(item);
        texts.push_back(python_text(each));
        if (const auto* integer = std::get_if<std::int64_t>(&each)) integers.push_back(*integer);
      }
      if (integers.size() == texts.size()) return integers;
      std::string text = number_list(texts);
      if (text.size() > 2000) fail("a list of sizes is too long");
      return SizeText{std::move(text)};
    }
    default: break;
  }
  return std::monostate{};
}

}  // namespace cudal1::tensor
