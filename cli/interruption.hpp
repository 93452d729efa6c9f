// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>

namespace cudal1::cli {

// While it lives, the first SIGINT or SIGTERM requests a stop and says so; the second ends the process at once with
// 130 or 143. That loses nothing: the journal is flushed line by line, and workers die with their parent. One at a time.
class Interruption {
 public:
  // `promise`: what is said of the end that was asked for.
  explicit Interruption(const char* promise = "stopping once the variant at hand is finished");
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  int signal() const;  // that requested the stop; 0: none did

 private:
  std::stop_source source_;
  std::jthread listener_;
  int read_end_ = -1;  // of the pipe that the signal handler writes to; open as long as that may happen
};

}  // namespace cudal1::cli
