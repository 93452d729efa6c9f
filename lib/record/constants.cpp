// SPDX-License-Identifier: Apache-2.0
#include "record/constants.hpp"

#include "record/element_type.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

// The last part of a symbol's C++ name: of "ns::weights" and of what nvcc makes of static ones.
bool names_variable(const std::string& symbol, const std::string& variable) {
  const std::string name = kernel_name(symbol);
  return name == variable || name.ends_with("::" + variable);
}

std::string element_text(const kernel::ScalarType& type, const std::byte* bytes) {
  using Kind = kernel::ScalarType::Kind;
  if (type.kind == Kind::floating) {
    const double value = tensor::load(type.floating, bytes);
    const std::string_view suffix = type.size == 4 ? "f" : "";
    if (std::isnan(value)) return "(0.0f / 0.0f)";
    if (std::isinf(value)) return value > 0 ? "(1.0f / 0.0f)" : "(-1.0f / 0.0f)";
    std::string text = type.size == 8 ? fmt::format("{:.17g}", value) : fmt::format("{:.9g}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text.append(suffix);
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, type.size);
  if (type.kind == Kind::unsigned_integer) return fmt::format("{}{}", value, type.size == 8 ? "ull" : "u");
  if (type.kind == Kind::signed_integer && type.size < 8 && (value >> (8 * type.size - 1)) != 0) value |= ~std::uint64_t{0} << (8 * type.size);
  const auto whole = static_cast<std::int64_t>(value);
  return type.size == 8 ? fmt::format("{}ll", whole) : whole == -2147483648LL ? "(-2147483647 - 1)" : fmt::format("{}", whole);
}

}  // namespace

namespace {

std::optional<kernel::ScalarType> element_of(const std::string& declared, const kernel::TypeNames& names, const std::string& source) {
  if (const auto type = kernel::scalar_type(declared, names)) return type;
  const auto dtype = element_type(declared, names, source);
  if (!dtype) return std::nullopt;
  kernel::ScalarType element;
  element.kind = tensor::is_floating(*dtype) ? kernel::ScalarType::Kind::floating : kernel::ScalarType::Kind::signed_integer;
  element.size = tensor::size_of(*dtype);
  element.floating = *dtype;
  return element;
}

std::string list_of(const kernel::ScalarType& element, const Bytes& bytes) {
  std::string list = "= {";
  for (std::size_t at = 0; at < bytes.size(); at += element.size) {
    if (at > 0) list += (at / element.size) % 16 == 0 ? ",\n  " : ", ";
    list += element_text(element, bytes.data() + at);
  }
  return list + "}";
}

// Of a template each instance has its own value: `mask<double>` is a specialisation behind the template.
tl::expected<std::string, std::string> specialisations(const std::string& name, const DeviceSource::DeviceVariable& declared, const std::vector<Variable>& variables,
                                                       const kernel::TypeNames& names, const std::string& source) {
  std::string text;
  for (const Variable& variable : variables) {
    const std::string full = kernel_name(variable.symbol);
    const std::size_t open = full.find('<');
    if (open == std::string::npos || !full.ends_with('>') || full.substr(0, open) != name) continue;
    const std::string argument = full.substr(open + 1, full.size() - open - 2);
    kernel::TypeNames with = names;
    with[declared.parameter] = argument;
    const auto element = element_of(declared.type, with, source);
    if (variable.before != variable.after) return tl::unexpected(fmt::format("the kernel writes the variable {}, which a task cannot restore or check", full));
    if (!element || variable.before.size() % element->size != 0) return tl::unexpected(fmt::format("the variable {} has a recorded value that cannot be written into the source", full));
    const std::string type = declared.type == declared.parameter ? argument : declared.type;
    text += fmt::format("\ntemplate <> __constant__ {} {}{} {};", type, full, declared.extents, list_of(*element, variable.before));
  }
  return text;
}

}  // namespace

tl::expected<std::string, std::string> with_constants(const DeviceSource& source, const std::vector<Variable>& variables, const kernel::TypeNames& names) {
  std::string text = source.text;
  // From the end, so that places before stay.
  std::vector<std::pair<std::string, DeviceSource::DeviceVariable>> ordered(source.variables.begin(), source.variables.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second.at > b.second.at; });
  for (const auto& [name, declared] : ordered) {
    if (!declared.parameter.empty()) {
      const auto made = specialisations(name, declared, variables, names, source.text);
      if (!made) return made;
      text.insert(declared.end, *made);
      continue;
    }
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return names_variable(v.symbol, name); });
    if (found == variables.end()) continue;
    if (found->before != found->after) return tl::unexpected(fmt::format("the kernel writes the variable {}, which a task cannot restore or check", name));
    const bool zero = std::all_of(found->before.begin(), found->before.end(), [](std::byte b) { return b == std::byte{0}; });
    if (zero && declared.bytes == 0) continue;
    const auto element = element_of(declared.type, names, source.text);
    if (!element && declared.bytes > 0) continue;  // its own initialiser stands
    if (!element || element->size == 0 || found->before.size() % element->size != 0 || declared.type.find('*') != std::string::npos)
      return tl::unexpected(fmt::format("the variable {} is {}, whose recorded value cannot be written into the source", name, declared.type));
    text.replace(declared.at, declared.bytes, (declared.bytes == 0 ? " " : "") + list_of(*element, found->before));
  }
  return text;
}

}  // namespace cudal1::record
