// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/process.hpp"

#include <array>
#include <cstddef>

#include <sys/types.h>

namespace cudal1::base {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }
  void reset(int value = -1);

 private:
  int value_;
};

// Two ends of a pipe, closed on exec. Throws Error(internal) when no more files can be opened.
struct Pipe {
  Pipe();
  Descriptor read, write;
};

struct SpawnOptions {
  std::array<int, 4> descriptors = {-1, -1, -1, -1};  // the child's 0 … 3; -1 is /dev/null, and none for 3
  std::size_t memory_limit_bytes = 0;                 // 0: none
  bool withhold_keys = false;                         // the child sees no variable that is named like a key
  Fault fault = Fault::internal;                      // of the Error thrown when the program cannot be started
};

// NAME=VALUE with a KEY, TOKEN, SECRET, PASSWORD or CREDENTIAL in its name, or HEADERS, which carry such.
bool named_like_a_key(std::string_view variable);

// Starts a program in a process group of its own, without any other descriptor of this process, with default signal
// handling. It gets SIGKILL when the calling *thread* ends, so that thread must live as long as the child is wanted.
pid_t spawn(const Program& program, const SpawnOptions& options);

// Waits for the end of a child without reaping it, so that its process group can still be killed by number.
// False: still running after the limit.
bool wait_for_end(pid_t pid, Seconds limit);

// Kills the process group and reaps its leader. A process that the kernel cannot stop within ten seconds is given up.
WorkerEnd kill_and_reap(pid_t pid);

}  // namespace cudal1::base
