// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::cli {

// A GPU that times are predicted for.
struct GpuRecord {
  std::string name;              // "H200"; as --gpu takes it: "mine.toml:RTX4060" for one of a file that was named
  outcome::DeviceFacts facts;
  std::string source;            // of a record of the user's: where its numbers come from
  bool own = false;
};

// The built-in ones, then those of the user's gpus.toml beside config.toml. Throws base::Error(usage), naming file, line and
// key, for a record that is not sound.
std::vector<GpuRecord> gpu_records();
std::filesystem::path own_gpus_file();

// By name, or as FILE.toml (with one record) or FILE.toml:NAME. Throws base::Error(usage) with the nearest name.
GpuRecord gpu_record(const std::string& name);

// "a100,l40s", each once; "all" is all of gpu_records(). Throws as gpu_record does.
std::vector<GpuRecord> gpu_list(const std::string& names);

}  // namespace cudal1::cli
