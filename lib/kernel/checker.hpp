// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <filesystem>
#include <optional>

namespace cudal1::kernel {

// `checker "right.py"`: the user's own program, or a Python file's function `check`, that says whether outputs are right.
struct Checker {
  std::filesystem::path path;  // as it can be opened: relative paths are taken from the kernel file's folder
  Place place;
  bool is_python() const { return path.extension() == ".py"; }
};

// The task's own, read from its lines.
std::optional<Checker> checker(const File& task);

}  // namespace cudal1::kernel
