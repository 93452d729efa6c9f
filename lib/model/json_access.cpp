// SPDX-License-Identifier: Apache-2.0
#include "model/json_access.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cudal1::model {

using nlohmann::json;

const json& member(const json& object, const char* name) {
  static const json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? none : *found;
}

std::string text_at(const json& object, const char* name) {
  const auto& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<long long> count_at(const json& object, const char* name) {
  const auto& value = member(object, name);
  if (!value.is_number()) return std::nullopt;
  constexpr double most = 1e15;
  const auto number = value.get<double>();
  return number >= 0 && number <= most ? std::optional(static_cast<long long>(number)) : std::nullopt;
}

std::string beginning(std::string_view text) {
  constexpr std::size_t most = 200;
  std::string shown = base::printable(base::trim(text).substr(0, most));
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return shown;
}

}  // namespace cudal1::model
