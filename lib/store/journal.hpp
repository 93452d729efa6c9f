// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::store {

// Reads the journal's whole lines. A last line without newline, or one that is no JSON, was being written when the
// process died: it is left out, and `valid_bytes` ends before it. A damaged line elsewhere throws
// base::Error(bad_input) with its number.
struct JournalText {
  std::vector<std::string> lines;
  std::size_t valid_bytes = 0;
};
JournalText read_journal(const std::filesystem::path& path);

// The line without the fields that hold times of day and durations: what two equal runs have in common.
std::string without_times(std::string_view line);

}  // namespace cudal1::store
