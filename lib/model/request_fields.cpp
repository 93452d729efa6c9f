// SPDX-License-Identifier: Apache-2.0
#include "model/request_fields.hpp"

#include "base/error.hpp"
#include "model/providers.hpp"

#include <fmt/format.h>

namespace cudal1::model {

using nlohmann::ordered_json;

std::pair<std::string, ordered_json> request_field(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw base::Error(base::Fault::usage, fmt::format("--request-field {}: expected NAME=VALUE, such as top_k=40 or options.min_p=0.05", text));
  const std::string value = text.substr(equals + 1);
  auto parsed = ordered_json::parse(value, nullptr, false);
  return {text.substr(0, equals), parsed.is_discarded() ? ordered_json(value) : std::move(parsed)};
}

void check_request_field(const std::string& text) { request_field(text); }

void add_request_fields(const Settings& settings, ordered_json& request, const char* sampling) {
  ordered_json& place = sampling == nullptr ? request : request[sampling];
  if (settings.temperature) place["temperature"] = *settings.temperature;
  if (settings.top_p) place["top_p"] = *settings.top_p;
  for (const std::string& text : settings.request_fields) {
    auto [path, value] = request_field(text);
    ordered_json* at = &request;
    for (std::size_t dot = 0; (dot = path.find('.')) != std::string::npos; path = path.substr(dot + 1)) {
      at = &(*at)[path.substr(0, dot)];
      if (!at->is_object()) *at = ordered_json::object();
    }
    (*at)[path] = std::move(value);
  }
}

}  // namespace cudal1::model
