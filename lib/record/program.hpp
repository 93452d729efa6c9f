// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/observed.hpp"
#include "record/recording.hpp"
#include "record/session.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::record {

// A program of the user's own. It keeps this process's input, outputs, folder and process group.
struct RunningProgram {
  std::vector<std::string> words;                                  // the first is looked up on PATH
  std::vector<std::pair<std::string, std::string>> environment;    // on top of this process's
};

struct Ended {
  int exit_code = 0, signal = 0;
  double seconds = 0;                                              // from its start to its end
};

// What of CUDA a program is linked with, as its file says: "libcudart.so.13"; empty where the runtime is part of it, or
// where it is a script.
std::string linked_runtime(const std::filesystem::path& program);

// Runs it to its end, with `runtime`, the folder that our libcudart lies in, first among its libraries; whatever process
// of it uses CUDA is recorded.
Ended record_simulated(const RunningProgram& program, const std::filesystem::path& runtime, const SimulatedOptions& options, Recording& recording);

// Runs it on its GPU to its end, watched through CUPTI by `injected`, the library that the driver is told to load into it.
Ended record_observed(const RunningProgram& program, const std::filesystem::path& injected, const ObservedOptions& options, Recording& recording);

}  // namespace cudal1::record
