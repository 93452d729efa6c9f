// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"

#include <nlohmann/json_fwd.hpp>

namespace cudal1::store {

// What a journal keeps of a device, in the order of its fields there.
nlohmann::ordered_json device_json(const outcome::DeviceFacts& device);
outcome::DeviceFacts device_from(const nlohmann::ordered_json& value);

}  // namespace cudal1::store
