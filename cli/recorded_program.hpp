// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "device_options.hpp"
#include "exit_codes.hpp"
#include "recorded_task.hpp"

#include "record/session.hpp"

#include <string>
#include <vector>

namespace cudal1::cli {

// What is run to be recorded.
struct RecordedProgram {
  std::vector<std::string> words;          // a program and its arguments, or CUDA sources to build and its arguments
  std::vector<std::string> nvcc_options;
  record::Choice choice;
};

// Builds the sources if there are any, runs the program, says what was wrong with its kernels, and writes the task or
// shows what there is to choose from.
ExitCode record_and_write(RecordedProgram program, RecordedTaskOptions options, const DeviceChoice& choice, const Console& console);

}  // namespace cudal1::cli
