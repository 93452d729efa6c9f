// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#include "base/error.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

// A signal handler can reach nothing but these.
std::atomic<int> first_signal = 0;
std::atomic<int> wake_up = -1;
std::atomic<long long> first_ms = 0;   // when it came

// timeout(1) and job schedulers send a signal to a process and again to its group; nobody presses keys as fast.
constexpr long long same_signal_ms = 300;

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1000LL * now.tv_sec + now.tv_nsec / 1'000'000;
}

extern "C" void on_signal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) {
    if (now_ms() - first_ms < same_signal_ms) return;
    _exit(128 + number);
  }
  first_ms = now_ms();
  const int error = errno;
  const char byte = 1;
  [[maybe_unused]] const auto written = ::write(wake_up, &byte, 1);
  errno = error;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

Interruption::Interruption(const Console& console, std::string promise) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw base::Error(base::Fault::internal, "cannot open a pipe for signals");
  first_signal = 0;
  read_end_ = ends[0];
  wake_up = ends[1];
  listener_ = std::jthread([read_end = ends[0], source = source_, promise = std::move(promise), &console]() mutable {
    char byte = 0;
    while (::read(read_end, &byte, 1) < 0 && errno == EINTR) {}
    if (byte == 0) return;
    console.warn(fmt::format("{}{}; once more to stop at once", console.options.progress == "json" ? "" : "\n", promise));
    source.request_stop();
  });
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  hangs_up_ = hang_up.sa_handler != SIG_IGN;  // nohup(1) asked for it to be ignored
  if (hangs_up_) handle(SIGHUP, on_signal);
}

Interruption::~Interruption() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  if (hangs_up_) handle(SIGHUP, SIG_DFL);
  const char byte = 0;  // ends the listener
  [[maybe_unused]] const auto written = ::write(wake_up, &byte, 1);
  listener_.join();
  ::close(wake_up.exchange(-1));
  ::close(read_end_);
}

int Interruption::signal() const { return first_signal; }

}  // namespace cudal1::cli
