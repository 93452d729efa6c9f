// SPDX-License-Identifier: Apache-2.0
#include "judge/gpu_lock.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::judge {

std::filesystem::path gpu_lock(const std::string& uuid) { return base::cache_folder() / ("gpu-" + uuid + ".lock"); }

GpuTurn::GpuTurn(const std::filesystem::path& lock, Use use) {
  const base::FileLock next(lock.string() + ".next");   // while it waits, so that those who come later wait behind it
  const auto fail = [&](const char* what) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw base::Error(base::Fault::usage, fmt::format("cannot {} the GPU's lock {}: {}", what, lock.string(), why));
  };
  descriptor_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("open");
  while (::flock(descriptor_, use == Use::shared ? LOCK_SH : LOCK_EX) != 0)
    if (errno != EINTR) fail("take");
}

GpuTurn::~GpuTurn() { ::close(descriptor_); }

bool GpuTurn::end_shared() {
  ::flock(descriptor_, LOCK_UN);
  const bool others = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0;
  ::flock(descriptor_, LOCK_UN);
  return others;
}

}  // namespace cudal1::judge
