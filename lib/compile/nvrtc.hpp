// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/messages.hpp"

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace cudal1::compile {

// NVRTC, opened at run time and never closed. Throws base::Error(no_device) when the library cannot be opened or lacks
// a function.
class Nvrtc {
 public:
  // The builtins are opened first and by path: otherwise the loader may give NVRTC those of another toolkit.
  Nvrtc(const std::filesystem::path& library, const std::filesystem::path& builtins);
  ~Nvrtc();

  int major() const { return major_; }
  int minor() const { return minor_; }
  std::vector<int> architectures() const;

  // The embedded headers are visible to the source; they come before those of -I folders.
  // Throws std::bad_alloc when memory or the size of the result gets out of hand.
  Product compile(const Job& job) const;

 private:
  Product compile(const Job& job, const std::set<std::string>& left_out) const;   // whose symbols are not asked for

  struct Functions;
  std::unique_ptr<Functions> functions_;
  int major_ = 0, minor_ = 0;
};

}  // namespace cudal1::compile
