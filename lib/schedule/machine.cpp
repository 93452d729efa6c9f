// SPDX-License-Identifier: Apache-2.0
#include "schedule/machine.hpp"

namespace cudal1::schedule {

int Machine::team_multiprocessors() const {
  int power = 1;
  while (power * 2 <= multiprocessors) power *= 2;
  return power * 10 >= multiprocessors * 9 ? power : multiprocessors;
}

Machine machine_of(const outcome::DeviceFacts& device) {
  Machine result;
  if (device.sm_count > 0) result.multiprocessors = device.sm_count;
  if (device.max_threads_per_sm > 0) result.threads = device.max_threads_per_sm;
  if (device.registers_per_sm > 0) result.registers = device.registers_per_sm;
  if (device.shared_bytes_per_sm > 0) result.shared_bytes = static_cast<std::int64_t>(device.shared_bytes_per_sm);
  if (device.shared_bytes_per_block_optin > 0) result.shared_bytes_of_block = static_cast<std::int64_t>(device.shared_bytes_per_block_optin);
  if (device.l2_bytes > 0) result.l2_bytes = static_cast<std::int64_t>(device.l2_bytes);
  result.warpgroup_products = device.major == 9 && device.minor == 0;  // later architectures have them no more
  result.double_products = device.major == 0 || device.major >= 8;
  return result;
}

}  // namespace cudal1::schedule
