// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace cudal1::sandbox {

// Landlock's version on this kernel; 0: not there or switched off. From 6 on it also keeps signals and abstract sockets in.
int landlock_abi();

// What a process may still do with files; everything that is not named here is refused. A path that does not exist
// gives nothing.
struct FileRules {
  std::vector<std::filesystem::path> readable;   // these files, and what lies below these folders
  std::vector<std::filesystem::path> runnable;   // read, and started as programs
  std::vector<std::filesystem::path> writable;   // everything but special files
  std::vector<std::filesystem::path> written;    // files that are there already: read and written
  std::vector<std::filesystem::path> devices;    // read, written and controlled
  bool other_sockets = false;                    // abstract sockets of processes outside may be connected to
};

// For this process and what it starts, for good. Also where the kernel can: no TCP, no signals to processes outside.
// This thread alone: to be called while there is no other. False: the kernel refused.
bool confine_files(const FileRules& rules);

}  // namespace cudal1::sandbox
