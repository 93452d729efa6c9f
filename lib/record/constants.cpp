// SPDX-License-Identifier: Apache-2.0
#include "record/constants.hpp"

#include "record/element_type.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

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

tl::expected<std::string, std::string> with_constants(const DeviceSource& source, const std::vector<Variable>& variables, const kernel::TypeNames& names) {
  std::string text = source.text;
  // From the end, so that places before stay.
  std::vector<std::pair<std::string, DeviceSource::DeviceVariable>> ordered(source.variables.begin(), source.variables.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second.at > b.second.at; });
  for (const auto& [name, declared] : ordered) {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return names_variable(v.symbol, name); });
    if (found == variables.end()) continue;
    if (found->before != found->after) return tl::unexpected(fmt::format("the kernel writes the variable {}, which a task cannot restore or check", name));
    const bool zero = std::all_of(found->before.begin(), found->before.end(), [](std::byte b) { return b == std::byte{0}; });
    if (zero && declared.bytes == 0) continue;
    const auto type = kernel::scalar_type(declared.type, names);
    kernel::ScalarType element;
    if (type) {
      element = *type;
    } else if (const auto dtype = element_type(declared.type, names, source.text)) {
      element.kind = tensor::is_floating(*dtype) ? kernel::ScalarType::Kind::floating : kernel::ScalarType::Kind::signed_integer;
      element.size = tensor::size_of(*dtype);
      element.floating = *dtype;
    } else if (declared.bytes > 0) {
      continue;  // its own initialiser stands
    } else {
      return tl::unexpected(fmt::format("the variable {} is {}, whose recorded value cannot be written into the source", name, declared.type));
    }
    if (element.size == 0 || found->before.size() % element.size != 0 || declared.type.find('*') != std::string::npos)
      return tl::unexpected(fmt::format("the variable {} is {}, whose recorded value cannot be written into the source", name, declared.type));
    std::string list = "= {";
    for (std::size_t at = 0; at < found->before.size(); at += element.size) {
      if (at > 0) list += (at / element.size) % 16 == 0 ? ",\n  " : ", ";
      list += element_text(element, found->before.data() + at);
    }
    text.replace(declared.at, declared.bytes, (declared.bytes == 0 ? " " : "") + list + "}");
  }
  return text;
}

}  // namespace cudal1::record
