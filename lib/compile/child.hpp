// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"
#include "compile/compiler.hpp"
#include "compile/messages.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::compile {

// One warm compile process. After a limit was hit it is dead and has to be replaced.
class Child {
 public:
  // Starts the process and waits until it is warm. Throws base::Error: no_device when NVRTC does not work, usage when
  // the sandbox cannot be set up, internal when the process cannot be started.
  Child(const CompilerOptions& options, const NvrtcIdentity& identity, std::vector<std::filesystem::path> folders);

  tl::expected<Product, Rejection> compile(const Job& job);

  bool usable() const { return alive_ && compiles_ < compiles_per_child; }
  const std::vector<std::filesystem::path>& folders() const { return folders_; }  // that it may read
  const Ready& ready() const { return ready_; }

 private:
  static constexpr int compiles_per_child = 500;  // NVRTC gives most of its memory back, not all

  Rejection died();

  Limits limits_;
  std::vector<std::filesystem::path> folders_;
  base::Worker worker_;
  Ready ready_;
  bool alive_ = true;
  bool killed_throws_, killed_ = false;
  int compiles_ = 0;
};

}  // namespace cudal1::compile
