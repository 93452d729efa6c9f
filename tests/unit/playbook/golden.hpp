// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "catch.hpp"

#include "base/file.hpp"
#include "playbook/candidate.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace cudal1::playbook {

inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests/unit/playbook/golden" / name;
}

inline const Candidate* find(const Candidates& candidates, const std::string& id) {
  const auto found = std::find_if(candidates.list.begin(), candidates.list.end(), [&](const auto& each) { return each.id == id; });
  return found == candidates.list.end() ? nullptr : &*found;
}

// golden/NAME.before.cu is the task, golden/NAME.after.cu the kernel file that the candidate must be, letter by letter.
// CUDAL1_ACCEPT=1 in the environment writes the second anew.
inline void becomes(const std::string& name, const std::string& id, const outcome::DeviceFacts& device = {},
                    outcome::Precision precision = outcome::Precision::fp32) {
  const task::Task task = task::load(golden(name + ".before.cu"));
  const Candidates candidates = candidates_for(task, precision, device);
  const Candidate* candidate = find(candidates, id);
  INFO(name << ": " << candidates.refusal);
  REQUIRE(candidate != nullptr);
  const auto path = golden(name + ".after.cu");
  if (std::getenv("CUDAL1_ACCEPT") != nullptr) base::write_file(path, candidate->source);
  REQUIRE(std::filesystem::exists(path));
  CHECK(candidate->source == base::read_file(path));
}

}  // namespace cudal1::playbook
