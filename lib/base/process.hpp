// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cudal1::base {

// A program to start: never a shell, never text from a model. An executable without a slash is looked up on PATH.
struct Program {
  std::filesystem::path executable;
  std::vector<std::string> arguments;
};

// What one finished program left behind.
struct Finished {
  int exit_code = 0;   // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;
  bool stopped = false;     // because the caller asked for it
  bool output_cut = false;  // more than the limit was printed; the rest was dropped
  std::string out, err;
};

// Runs a program to its end: `input` on its standard input, both outputs collected up to `output_limit` bytes each.
// The whole process group is killed (TERM, then KILL two seconds later) at the time limit or when `stop` is requested,
// and what the program left running is killed when it ends. It dies with the calling thread. `heard` gets what the program
// writes to its standard error as it comes, in pieces of any length. Throws Error(usage) when it cannot be started.
Finished run(const Program& program, std::string_view input, Seconds limit, std::size_t output_limit = std::size_t{1} << 20,
             const std::stop_token& stop = {}, const std::function<void(std::string_view)>& heard = {});

// A frame-wise channel over one socket: each message is a length and that many bytes, at most 2 GiB. Used on both sides
// of a worker. The descriptor belongs to somebody else. A message that was cut short by the time limit is continued by
// the next receive.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  bool send(std::string_view message);                                    // false: the peer is gone
  enum class Status { message, timeout, closed };
  Status receive(std::string& message, std::optional<Seconds> limit = {});  // no limit: waits

 private:
  int descriptor_;
  std::string arrived_;  // of the message under way, with its length in front
};

// How a worker ended, known once it was killed or waited for.
struct WorkerEnd {
  int exit_code = -1;                  // -1 when a signal ended it
  int signal = 0;
  std::size_t peak_memory_bytes = 0;   // largest resident size
};

// A warm child process that answers messages (`cudal1 worker compile` and the like). The child finds its channel on
// file descriptor 3 (worker_channel()) and dies with its parent. Killed, with its whole process group, by the destructor.
// A thread of its own reads the child's standard error, so a talkative child never blocks. One thread at a time uses the
// channel; kill() and pause() may come from any. The child does not see environment variables that are named like keys.
class Worker {
 public:
  // The limit is one of private writable memory (RLIMIT_DATA); 0: none. Sanitizer builds ignore it, because their
  // run-time cannot start under one. Throws Error(internal) when the program cannot be started.
  explicit Worker(Program program, std::size_t memory_limit_bytes = 0);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Channel& channel() { return channel_; }
  pid_t pid() const { return pid_; }
  void kill();              // at once; idempotent
  void pause(bool paused);  // none of its threads runs meanwhile; its own children do
  WorkerEnd end();          // of a child that closed its channel: waits up to two seconds, then kills
  std::string last_words(); // what the child wrote to its standard error, the last 64 KiB

 private:
  struct State;
  std::unique_ptr<State> state_;
  pid_t pid_ = -1;
  Channel channel_{-1};
};

// In a worker: the channel to the parent. Throws Error(usage) when this process was not started by Worker.
Channel worker_channel();

// This program's own executable, to be started again as a worker.
std::filesystem::path own_executable();

}  // namespace cudal1::base
