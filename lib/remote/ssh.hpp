// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"

#include <string>
#include <vector>

namespace cudal1::remote {

// A machine that ssh reaches without asking anything, and this very program there.
class Host {
 public:
  // `name` is the user's: "gpu-box", "me@gpu-box". Throws base::Error(usage) for one that ssh would take for an option.
  explicit Host(std::string name);

  const std::string& name() const { return name_; }

  // ssh with what this program is to do there.
  base::Program command(const std::vector<std::string>& arguments) const;

  // Runs this program there to its end and gives what it printed. Where its copy is missing it is made first. Throws base::Error(no_device) with ssh's
  // words where that fails.
  std::string ask(const std::vector<std::string>& arguments) const;

 private:
  base::Program ssh(const std::string& command) const;
  void copy_program() const;

  std::string name_, digest_;
};

// The last line of what a program said that holds anything.
std::string last_line(const std::string& words);

}  // namespace cudal1::remote
