// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace cudal1::model {

struct Settings;

// "options.top_k=40" as its path and its value: JSON, or a text where it is none. Throws base::Error(usage) without a name.
std::pair<std::string, nlohmann::ordered_json> request_field(const std::string& text);

// Temperature and top-p into `sampling` (the request itself, or the part of it that they belong to), then the user's own
// fields into the request, where they replace what stands there.
void add_request_fields(const Settings& settings, nlohmann::ordered_json& request, const char* sampling = nullptr);

}  // namespace cudal1::model
