// SPDX-License-Identifier: Apache-2.0
#include "store/folder_lock.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace cudal1::store {

namespace {

// A lock of the open file, not of the process (F_OFD_*): two runs of one process exclude each other as well.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const auto path = folder / "lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0)
    throw base::Error(base::Fault::not_written, fmt::format("{} cannot be written: {}; name another folder with --out", path.string(), std::strerror(errno)));
  struct flock lock = whole_file();
  if (::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0) return;
  const int why = errno;
  ::close(descriptor_);
  if (why != EAGAIN && why != EACCES)
    throw base::Error(base::Fault::not_written, fmt::format("{} cannot be locked: {}; name another folder with --out", path.string(), std::strerror(why)));
  throw base::Error(base::Fault::usage,
                    fmt::format("another cudal1 works in {}; wait for it, or name another folder with --out", folder.string()));
}

// Unlocked before it is closed: a process that another thread forks has the open file too, until it executes its program.
FolderLock::~FolderLock() {
  struct flock lock = whole_file();
  lock.l_type = F_UNLCK;
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
  ::close(descriptor_);
}

// Asks without taking the lock, so that nobody who wants it meets the question.
bool FolderLock::held(const std::filesystem::path& folder) {
  const int descriptor = ::open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = whole_file();
  const bool known = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0;
  ::close(descriptor);
  return known && lock.l_type != F_UNLCK;
}

}  // namespace cudal1::store
