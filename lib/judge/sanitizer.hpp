// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
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

}  // namespace cudal1::judge
