// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/device_host.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1::judge {

// Where compute-sanitizer is: on the PATH, or in the toolkit's usual places.
std::optional<std::filesystem::path> find_sanitizer();

// What a tool's log says.
struct SanitizerLog {
  enum class State { passed, found, refused };
  State state = State::refused;   // no summary: it did not run to its end
  std::string first_error;        // one line, when found
};
SanitizerLog read_sanitizer_log(std::string_view log);

// What the four tools together say, in words that differ: only the first counts as passed.
struct SanitizerResult {
  std::string word;               // "passed", "found", "absent", "refused", "too slow"
  std::string tool, first_error;  // when found
};
enum class Driven { done, failed, too_slow };

// Starts a `worker` under each tool, `at_once` of them at the same time, and lets `drive`, in a thread for each, make it do its work. `program` empty: absent.
// A tool that does not start the worker, or not to its end, refused. What one tool found counts more than that another was too slow.
SanitizerResult run_sanitizer(const std::optional<std::filesystem::path>& program, const base::Program& worker,
                              const std::function<Driven(DeviceHost&)>& drive, std::size_t at_once = 4);

// How many workers may hold a task of these bytes at the same time, beside what else is in a GPU's memory: from one to four.
std::size_t sanitizers_at_once(double task_bytes, std::size_t memory_bytes);

}  // namespace cudal1::judge
