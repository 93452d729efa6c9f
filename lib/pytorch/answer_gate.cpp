// SPDX-License-Identifier: Apache-2.0
#include "pytorch/answer_gate.hpp"

#include "base/error.hpp"

#include <atomic>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cudal1::pytorch {

namespace {

constexpr std::size_t page_bytes = 4096;
// As answer_gate.py has them: each in a line of the cache of its own.
constexpr std::size_t queued_at = 0, open_at = 64, done_at = 128;
constexpr base::Seconds spinning{0.002};   // this long without giving the processor away
constexpr base::Seconds between_looks{0.05};   // at whether the other process is still there

}  // namespace

// Sealed: reading behind the end of a file that somebody made shorter would end this process.
AnswerGate::AnswerGate() : file_(::memfd_create("gate", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (file_ >= 0 && ::ftruncate(file_, page_bytes) == 0 && ::fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) page_ = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (page_ == nullptr || page_ == MAP_FAILED) throw base::Error(base::Fault::internal, "no memory to share with the process that runs the answer");
}

AnswerGate::~AnswerGate() {
  ::munmap(page_, page_bytes);
  ::close(file_);
}

std::string AnswerGate::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_); }

bool AnswerGate::wait_queued(std::uint32_t number, base::Seconds limit, const std::function<bool()>& ended) const { return wait(queued_at, number, limit, ended); }
bool AnswerGate::wait_done(std::uint32_t number, base::Seconds limit, const std::function<bool()>& ended) const { return wait(done_at, number, limit, ended); }

void AnswerGate::open(std::uint32_t number) {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(static_cast<char*>(page_) + open_at)).store(number, std::memory_order_release);
}

bool AnswerGate::wait(std::size_t word, std::uint32_t number, base::Seconds limit, const std::function<bool()>& ended) const {
  const std::atomic_ref seen(*reinterpret_cast<std::uint32_t*>(static_cast<char*>(page_) + word));
  const base::Seconds began = base::now();
  for (base::Seconds looked = began; seen.load(std::memory_order_acquire) != number;) {
    const base::Seconds now = base::now();
    if (now - began > limit) return false;
    if (now - looked > between_looks) {
      looked = now;
      if (ended()) return false;
    }
    if (now - began > spinning) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

}  // namespace cudal1::pytorch
