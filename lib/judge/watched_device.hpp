// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cudal1::judge {

// A device that tells when an execution begins and ends, so that the parent can tell a hang from honest host work.
// A run or prediction that leaves a variable of its module changed ends as `stateful`.
// `bare` leaves memory as it was allocated, without guards and poison, for a sanitizer to see what a kernel reads.
std::unique_ptr<device::Device> watch(std::unique_ptr<device::Device> device, std::function<void(bool executing)> tell,
                                      bool bare);

// Why a variant is refused that wrote this variable.
std::string changed_message(const std::string& symbol);

}  // namespace cudal1::judge
