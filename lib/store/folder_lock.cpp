// SPDX-License-Identifier: Apache-2.0
#include "store/folder_lock.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace cudal1::store {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const auto path = folder / "lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0)
    throw base::Error(base::Fault::not_written, fmt::format("{} cannot be written: {}; name another folder with --out", path.string(), std::strerror(errno)));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  throw base::Error(base::Fault::usage,
                    fmt::format("another cudal1 works in {}; wait for it, or name another folder with --out", folder.string()));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

bool FolderLock::held(const std::filesystem::path& folder) {
  const int descriptor = ::open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return !free;
}

}  // namespace cudal1::store
