// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace fs = std::filesystem;

namespace {

// Files are replaced by new ones in their folder, and folders that are missing are made: so one is made on trial. What `access` says
// is not enough, above all for root.
void try_place(const std::string& option, fs::path folder) {
  std::error_code none;
  while (!fs::exists(folder, none) && folder.has_parent_path() && folder.parent_path() != folder) folder = folder.parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, none)) throw base::Error(base::Fault::not_written, fmt::format("{}: {} is no folder", option, folder.string()));
  std::string name = (folder / ".cudal1-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) throw base::Error(base::Fault::not_written, fmt::format("{}: cannot write into {}: {}", option, folder.string(), std::strerror(errno)));
  ::close(file);
  ::unlink(name.c_str());
}

}  // namespace

void require_writable(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  const fs::path path = output;
  std::error_code none;
  for (const std::string& input : inputs)
    if (fs::equivalent(path, input, none))
      throw base::Error(base::Fault::usage, fmt::format("-o {}: that is {} itself, which would be lost; name another file", output, input));
  if (fs::is_directory(path, none)) throw base::Error(base::Fault::usage, fmt::format("-o {}: that is a folder; name a file in it", output));
  try_place("-o " + output, path.parent_path().empty() ? fs::path(".") : path.parent_path());
}

void require_writable_folder(const std::string& option, const std::string& folder) { try_place(option + " " + folder, fs::absolute(folder)); }

}  // namespace cudal1::cli
