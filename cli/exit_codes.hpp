// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <span>
#include <string_view>

namespace cudal1::cli {

// How a command ends. The numbers are an interface: build scripts and job schedulers branch on them.
enum class ExitCode : int {
  success = 0,
  internal = 1,
  usage = 2,
  nothing_faster = 3,
  credentials = 4,
  no_device = 5,
  bad_input = 6,
  model_unreachable = 7,
  failed_items = 8,
  predicted_only = 9,
  bad_task = 10,
  missing = 11,
  not_written = 12,
  resumable = 75,
  interrupted = 130,
  terminated = 143,
  hung_up = 129,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view meaning;
};

// The one table behind `cudal1 help exit-codes` and cudal1(1).
std::span<const ExitCodeRow> exit_codes();

ExitCode exit_code(base::Fault fault);

}  // namespace cudal1::cli
