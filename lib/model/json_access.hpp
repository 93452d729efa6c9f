// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cudal1::model {

// What services send is taken as it comes: a member that is missing or of another type than expected is empty.
const nlohmann::json& member(const nlohmann::json& object, const char* name);  // null when it is not there
std::string text_at(const nlohmann::json& object, const char* name);
std::optional<long long> count_at(const nlohmann::json& object, const char* name);

// The first bytes of what should have been JSON, to be shown.
std::string beginning(std::string_view text);

}  // namespace cudal1::model
