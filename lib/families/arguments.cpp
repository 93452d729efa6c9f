// SPDX-License-Identifier: Apache-2.0
#include "families/arguments.hpp"

#include "cuda_code/parameter_names.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

std::string converted(const std::string& type, const std::string& text) {
  return type.find(' ') == std::string::npos ? type + "(" + text + ")" : "static_cast<" + type + ">(" + text + ")";
}

std::string conversion(const std::string& type) { return type.find(' ') == std::string::npos ? type : "(" + type + ")"; }

std::string compute_type(tensor::Dtype dtype) {
  using tensor::Dtype;
  switch (dtype) {
    case Dtype::float64: return "double";
    case Dtype::float32:
    case Dtype::float16:
    case Dtype::bfloat16: return "float";
    case Dtype::int64: return "long long";
    case Dtype::bool_: return "bool";
    default: return "int";
  }
}

std::string index_type(std::int64_t largest) {
  // A quarter of the range is left for what threads add past the end.
  return largest < std::numeric_limits<std::int32_t>::max() / 4 * 3 ? "int" : "long long";
}

bool is_literal(const std::string& text) {
  return !text.empty() && text.find_first_of("0123456789") != std::string::npos &&
         text.find_first_not_of("0123456789.eE+-") == std::string::npos && text.find_first_of("eE.0123456789") <= 1 &&
         text.find(' ') == std::string::npos;
}

std::string c_literal(const std::string& text, tensor::Dtype dtype) {
  const bool real = text.find_first_of(".eE") != std::string::npos;
  std::string result = text;
  if (compute_type(dtype) == "float") result += real ? "f" : ".0f";
  else if (compute_type(dtype) == "double" && !real) result += ".0";
  return result[0] == '-' ? "(" + result + ")" : result;
}

std::string Arguments::add(Parameter parameter) {
  while (std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const Parameter& each) { return each.name == cuda_code::marked(parameter.name); }))
    parameter.name += "_";
  parameter.name = cuda_code::marked(parameter.name);
  parameters_.push_back(std::move(parameter));
  return parameters_.back().name;
}

std::string Arguments::pointer(const std::string& buffer, tensor::Dtype dtype, bool written) {
  const std::string type = fmt::format("{}* __restrict__", tensor::cuda_name(dtype));
  for (Parameter& each : parameters_) {
    if (each.argument != buffer || each.type.find('*') == std::string::npos) continue;
    if (written) each.type = type;  // read in place, until now
    return each.name;
  }
  return add({written ? type : "const " + type, buffer, buffer, {}});
}

std::string Arguments::tensor_map(const std::string& name, const std::string& expression) { return add({"const __grid_constant__ CUtensorMap", name, expression, {}}); }

std::string Arguments::number(const tensor::Extent& extent) {
  if (is_literal(extent.text)) return extent.text;
  for (const Parameter& each : parameters_)
    if (each.values == extent.values && !each.values.empty()) return each.name;
  const std::int64_t most = *std::max_element(extent.values.begin(), extent.values.end());
  return add({index_type(most), is_name(extent.text) ? extent.text : fmt::format("n{}", parameters_.size()),
              extent.text, extent.values});
}

std::string Arguments::number(const std::string& text, tensor::Dtype dtype) {
  if (is_literal(text)) return c_literal(text, dtype);
  if (text == "inf" || text == "-inf") return converted(compute_type(dtype), text == "inf" ? "__int_as_float(0x7f800000)" : "__int_as_float(0xff800000)");
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto letter = [&](std::size_t at) {
      return at < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_' || text[at] == '.');
    };
    if (!letter(i)) {
      result += text[i++];
      continue;
    }
    std::size_t end = i;
    while (letter(end)) ++end;
    const std::string word = text.substr(i, end - i);
    i = end;
    if (!is_name(word)) {
      result += c_literal(word, dtype);
    } else if (end < text.size() && text[end] == '(') {
      if (word != "double") result += word;  // a function; a number takes the type that it is computed in
    } else {
      const auto scalar = scalars_.find(word);
      std::string name;
      for (const Parameter& each : parameters_)
        if (each.argument == word) name = each.name;
      if (name.empty())
        name = add({scalar == scalars_.end() ? "long long" : compute_type(scalar->second), word, word, {}});
      result += converted(compute_type(dtype), name);
    }
  }
  return is_name(text) ? result : "(" + result + ")";
}

std::string Arguments::number(const Node& node) {
  const auto& [text, extent] = node.as<Number>();
  if (extent.text.empty() || is_literal(text)) return number(text, node.dtype);
  return converted(compute_type(node.dtype), number(extent));
}

std::string Arguments::joined(std::string (*spelt)(const Parameter&)) const {
  std::string result;
  for (const Parameter& each : parameters_) result += (result.empty() ? "" : ", ") + spelt(each);
  return result;
}

std::string Arguments::parameters() const { return joined([](const Parameter& each) { return each.type + " " + each.name; }); }
std::string Arguments::forwarded() const { return joined([](const Parameter& each) { return each.name; }); }
std::string Arguments::passed() const { return joined([](const Parameter& each) { return each.argument; }); }

}  // namespace cudal1::families
