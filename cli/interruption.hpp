// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"

#include <stop_token>
#include <string>
#include <thread>

namespace cudal1::cli {

// While it lives, the first SIGINT, SIGTERM or SIGHUP requests a stop and says so; the second ends the process at once with
// 130, 143 or 129. That loses nothing: the journal is flushed line by line, and workers die with their parent. One at a time.
class Interruption {
 public:
  // `promise`: what is said of the end that was asked for.
  explicit Interruption(const Console& console, std::string promise = "stopping once the variant at hand is finished");
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  int signal() const;  // that requested the stop; 0: none did

 private:
  std::stop_source source_;
  std::jthread listener_;
  bool hangs_up_ = true;
  int read_end_ = -1;  // of the pipe that the signal handler writes to; open as long as that may happen
};

}  // namespace cudal1::cli
