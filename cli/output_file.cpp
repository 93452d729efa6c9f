// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace fs = std::filesystem;

void require_writable(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  const fs::path path = output;
  std::error_code none;
  for (const std::string& input : inputs)
    if (fs::equivalent(path, input, none))
      throw base::Error(base::Fault::usage, fmt::format("-o {}: that is {} itself, which would be lost; name another file", output, input));
  if (fs::is_directory(path, none)) throw base::Error(base::Fault::usage, fmt::format("-o {}: that is a folder; name a file in it", output));
  // The file is replaced by a new one in its folder; folders that are missing are made.
  fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  while (!fs::exists(folder, none) && folder.has_parent_path() && folder.parent_path() != folder) folder = folder.parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, none)) throw base::Error(base::Fault::not_written, fmt::format("-o {}: {} is no folder", output, folder.string()));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw base::Error(base::Fault::not_written, fmt::format("-o {}: cannot write into {}: {}", output, folder.string(), std::strerror(errno)));
}

}  // namespace cudal1::cli
