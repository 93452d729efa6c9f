// SPDX-License-Identifier: Apache-2.0
#include "store/device_json.hpp"

#include <nlohmann/json.hpp>

namespace cudal1::store {

namespace {

// Calls visit(name, field) for each field of a DeviceFacts, const or not.
template <typename Facts, typename Visit>
void each_field(Facts& device, Visit visit) {
  visit("name", device.name);
  visit("uuid", device.uuid);
  visit("driver", device.driver);
  visit("simulated", device.simulated);
  visit("major", device.major);
  visit("minor", device.minor);
  visit("sm_count", device.sm_count);
  visit("clock_hz", device.clock_hz);
  visit("memory_bytes", device.memory_bytes);
  visit("memory_bytes_per_second", device.memory_bytes_per_second);
  visit("memory_rate_measured", device.memory_rate_measured);
  visit("l2_bytes", device.l2_bytes);
  visit("shared_bytes_per_sm", device.shared_bytes_per_sm);
  visit("shared_bytes_per_block_optin", device.shared_bytes_per_block_optin);
  visit("registers_per_sm", device.registers_per_sm);
  visit("max_threads_per_sm", device.max_threads_per_sm);
  visit("max_blocks_per_sm", device.max_blocks_per_sm);
  visit("fp32_flops", device.fp32_flops);
  visit("fp64_flops", device.fp64_flops);
  visit("fp16_tensor_flops", device.fp16_tensor_flops);
  visit("tf32_tensor_flops", device.tf32_tensor_flops);
}

}  // namespace

nlohmann::ordered_json device_json(const outcome::DeviceFacts& device) {
  nlohmann::ordered_json value;
  each_field(device, [&](const char* name, const auto& field) { value[name] = field; });
  return value;
}

outcome::DeviceFacts device_from(const nlohmann::ordered_json& value) {
  outcome::DeviceFacts device;
  each_field(device, [&](const char* name, auto& field) { value.at(name).get_to(field); });
  return device;
}

}  // namespace cudal1::store
