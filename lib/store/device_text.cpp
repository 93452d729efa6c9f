// SPDX-License-Identifier: Apache-2.0
#include "store/device_text.hpp"

#include "base/error.hpp"
#include "store/device_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::store {

std::string device_text(const outcome::DeviceFacts& device) { return device_json(device).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace); }

outcome::DeviceFacts device_from_text(std::string_view text) {
  try {
    return device_from(nlohmann::ordered_json::parse(text));
  } catch (const nlohmann::ordered_json::exception& problem) {
    throw base::Error(base::Fault::bad_input, fmt::format("a device could not be read: {}", problem.what()));
  }
}

}  // namespace cudal1::store
