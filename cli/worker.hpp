// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"

#include <optional>
#include <string>

namespace cudal1::cli {

// `cudal1 worker compile` and `cudal1 worker device` are how this program starts itself; they are no commands of the
// user's. Empty when the arguments ask for anything else.
std::optional<int> worker_main(int argc, char** argv);

// This program started as the worker of that kind.
base::Program worker_program(const std::string& kind);

// … as what stands for a device worker on another machine.
base::Program relay_program(const std::string& host);

}  // namespace cudal1::cli
