// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace cudal1::store {

// Keeps a run folder for one process. The system gives the lock back when the process ends, however it ends.
class FolderLock {
 public:
  // Throws base::Error(usage) when another process holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  static bool held(const std::filesystem::path& folder);  // by any process, this one included

 private:
  int descriptor_ = -1;
};

}  // namespace cudal1::store
