// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "device_options.hpp"
#include "exit_codes.hpp"
#include "workbench.hpp"

#include "record/recording.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::cli {

// Where a recorded kernel's source is, and where its task goes.
struct RecordedTaskOptions {
  std::vector<std::string> sources, include_folders, definitions;
  std::string output;                  // empty: after the kernel
  bool overwrite = false;
  std::string origin;                  // for a comment on top
  WorkbenchOptions workbench;
};

// Throws base::Error(usage) where a task may not be written: over a file that is there, unless that is wanted, and never over
// a source. Empty: nothing to check.
void require_place(const RecordedTaskOptions& options, const std::filesystem::path& output);

// Makes the task of `kept`, checks on the device that its kernel gives what was recorded, and writes it with its arrays.
// Throws base::Error(bad_input) that says in one sentence what is missing. False: something without an end runs on the GPU,
// which only the end of this process stops.
bool write_recorded_task(const record::Kept& kept, const RecordedTaskOptions& options, const DeviceChoice& choice, const Console& console);

// Every kernel of the run with its launches, time, share and bytes, most time first.
std::string launch_table(const record::Recording& recording);

}  // namespace cudal1::cli
