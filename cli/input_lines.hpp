// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace cudal1::cli {

// Lines of a file descriptor that somebody writes to while they are read; a stop ends the waiting.
class InputLines {
 public:
  InputLines(int descriptor, std::stop_token stop) : descriptor_(descriptor), stop_(std::move(stop)) {}

  std::optional<std::string> next();   // without its newline; empty: the end, or a stop

 private:
  bool read_more();
  int descriptor_;
  std::stop_token stop_;
  std::string read_;
  std::size_t at_ = 0, searched_ = 0;
  bool ended_ = false;
};

}  // namespace cudal1::cli
