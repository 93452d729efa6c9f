// SPDX-License-Identifier: Apache-2.0
#include "judge/gpu_lock.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "judge/turn_phases.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::judge {

std::filesystem::path gpu_lock(const std::string& uuid) { return base::cache_folder() / ("gpu-" + uuid + ".lock"); }

namespace {

TurnPhases& phases_of(const std::filesystem::path& lock) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, TurnPhases> all;
  const std::lock_guard guard(mutex);
  return all[lock];
}

}  // namespace

GpuTurn::GpuTurn(const std::filesystem::path& lock, Use use) : phases_(phases_of(lock)), alone_(use == Use::alone) {
  phases_.enter(alone_);
  try {
    const base::FileLock next(lock.string() + ".next");   // while it waits, so that those who come later wait behind it
    const auto fail = [&](const char* what) {
      const std::string why = std::strerror(errno);
      if (descriptor_ >= 0) ::close(descriptor_);
      throw base::Error(base::Fault::usage, fmt::format("cannot {} the GPU's lock {}: {}", what, lock.string(), why));
    };
    descriptor_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("open");
    while (::flock(descriptor_, alone_ ? LOCK_EX : LOCK_SH) != 0)
      if (errno != EINTR) fail("take");
  } catch (...) {
    leave();
    throw;
  }
}

GpuTurn::~GpuTurn() {
  ::close(descriptor_);
  leave();
}

void GpuTurn::leave() {
  if (std::exchange(held_, false)) phases_.leave(alone_);
}

bool GpuTurn::end_shared() {
  ::flock(descriptor_, LOCK_UN);
  const bool others = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0;
  ::flock(descriptor_, LOCK_UN);
  leave();
  return others;
}

}  // namespace cudal1::judge
