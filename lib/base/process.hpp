// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cudal1::base {

// A program to start: never a shell, never text from a model.
struct Program {
  std::filesystem::path executable;
  std::vector<std::string> arguments;
};

// What one finished program left behind.
struct Finished {
  int exit_code = 0;   // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;
  bool output_cut = false;  // more than the limit was printed; the rest was dropped
  std::string out, err;
};

// Runs a program to its end: `input` on its standard input, both outputs collected up to `output_limit` bytes each.
// The whole process group is killed (TERM, then KILL) at the time limit.
Finished run(const Program& program, std::string_view input, Seconds limit, std::size_t output_limit = std::size_t{1} << 20);

// A frame-wise channel over one socket: each message is a length and that many bytes. Used on both sides of a worker.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  bool send(std::string_view message);                                    // false: the peer is gone
  enum class Status { message, timeout, closed };
  Status receive(std::string& message, std::optional<Seconds> limit = {});  // no limit: waits

 private:
  int descriptor_;
};

// A warm child process that answers messages (`cudal1 worker compile` and the like). The child finds its channel on
// file descriptor 3 (worker_channel()) and dies with its parent. Killed, with its whole process group, by the destructor.
class Worker {
 public:
  explicit Worker(Program program, std::size_t memory_limit_bytes = 0);  // 0: no limit. Throws Error(internal)
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Channel& channel() { return channel_; }
  pid_t pid() const { return pid_; }
  void kill();              // at once; idempotent
  std::string last_words(); // what the child wrote to its standard error, at most 64 KiB

 private:
  pid_t pid_ = -1;
  int socket_ = -1, error_pipe_ = -1;
  Channel channel_{-1};
};

// In a worker: the channel to the parent.
Channel worker_channel();

// This program's own executable, to be started again as a worker.
std::filesystem::path own_executable();

}  // namespace cudal1::base
