// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"

#include <string>
#include <string_view>

namespace cudal1::cli {

// One line on standard error that is repainted in place, with lines that stay above it. Only on a terminal; elsewhere
// show() does nothing and keep() prints.
class StatusLine {
 public:
  explicit StatusLine(const Console& console);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(std::string_view text);  // replaces the line, cut to the terminal's width
  void keep(std::string_view text);  // a line that stays
  void clear();

 private:
  const Console& console_;
  bool repaints_;
  std::string shown_;
};

}  // namespace cudal1::cli
