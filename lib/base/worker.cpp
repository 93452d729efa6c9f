// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/process.hpp"
#include "base/spawn.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cudal1::base {
namespace {

constexpr std::size_t last_words_limit = std::size_t{64} << 10;

}  // namespace

// The keeper thread starts the child and lives as long as this object: the kernel kills a child when the thread that
// forked it ends, and the thread that constructs a Worker may end long before the Worker does.
struct Worker::State {
  Descriptor socket, error_pipe;
  Pipe stop;  // closing its write end ends the keeper
  std::thread keeper;
  std::mutex mutex;
  std::string words;
  bool ended = false;
  WorkerEnd end;
  pid_t pid = -1;

  void keep();
  void finish();
};

void Worker::State::keep() {
  bool open = true;
  for (;;) {
    pollfd events[2] = {{stop.read.value(), POLLIN, 0}, {open ? error_pipe.value() : -1, POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 && errno != EINTR) return;
    if (events[1].revents != 0) {
      char block[4096];
      const ssize_t count = ::read(error_pipe.value(), block, sizeof block);
      if (count == 0 || (count < 0 && errno != EINTR)) open = false;
      if (count > 0) {
        const std::lock_guard lock(mutex);
        words.append(block, static_cast<std::size_t>(count));
        if (words.size() > 2 * last_words_limit) words.erase(0, words.size() - last_words_limit);
      }
    } else if (events[0].revents != 0) {
      return;
    }
  }
}

// With the mutex held.
void Worker::State::finish() {
  if (std::exchange(ended, true)) return;
  end = kill_and_reap(pid);
}

Worker::Worker(Program program, std::size_t memory_limit_bytes) : state_(std::make_unique<State>()) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(Fault::internal, std::string("cannot open a channel to a worker: ") + std::strerror(errno));
  state_->socket.reset(ends[0]);
  Descriptor childs_end(ends[1]);
  Pipe errors;
  SpawnOptions options;
  options.descriptors = {-1, -1, errors.write.value(), childs_end.value()};
  options.memory_limit_bytes = memory_limit_bytes;
  options.withhold_keys = true;

  std::promise<pid_t> started;
  std::future<pid_t> pid = started.get_future();
  state_->error_pipe.reset(::fcntl(errors.read.value(), F_DUPFD_CLOEXEC, 0));
  state_->keeper = std::thread([this, &program, &options, started = std::move(started)]() mutable {
    try {
      started.set_value(spawn(program, options));
    } catch (...) {
      started.set_exception(std::current_exception());
      return;
    }
    state_->keep();
  });
  try {
    state_->pid = pid_ = pid.get();
  } catch (...) {
    state_->keeper.join();
    throw;
  }
  channel_ = Channel(state_->socket.value());
}

Worker::~Worker() {
  kill();
  state_->stop.write.reset();
  state_->keeper.join();
}

void Worker::kill() {
  const std::lock_guard lock(state_->mutex);
  state_->finish();
}

void Worker::pause(bool paused) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->ended) ::kill(pid_, paused ? SIGSTOP : SIGCONT);
}

WorkerEnd Worker::end() {
  wait_for_end(pid_, Seconds{2});
  const std::lock_guard lock(state_->mutex);
  state_->finish();
  return state_->end;
}

std::string Worker::last_words() {
  const std::lock_guard lock(state_->mutex);
  const std::size_t skipped = state_->words.size() > last_words_limit ? state_->words.size() - last_words_limit : 0;
  return state_->words.substr(skipped);
}

}  // namespace cudal1::base
