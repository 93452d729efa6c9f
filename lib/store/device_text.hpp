// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"

#include <string>
#include <string_view>

namespace cudal1::store {

// A device as one JSON object in text, for other parts. The inverse throws base::Error(bad_input) for anything else.
std::string device_text(const outcome::DeviceFacts& device);
outcome::DeviceFacts device_from_text(std::string_view text);

}  // namespace cudal1::store
