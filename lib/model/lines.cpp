// SPDX-License-Identifier: Apache-2.0
#include "model/lines.hpp"

#include <algorithm>

namespace cudal1::model {

void Lines::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') {
      after_return_ = false;
      bytes.remove_prefix(1);
      continue;
    }
    after_return_ = false;
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    line_.append(bytes.substr(0, std::min(end, longest - line_.size())));
    bytes.remove_prefix(end);
    if (bytes.empty()) return;
    after_return_ = bytes.front() == '\r';
    bytes.remove_prefix(1);
    end_line();
  }
}

void Lines::finish() {
  if (!line_.empty()) end_line();
}

void Lines::end_line() {
  sink_(line_);
  line_.clear();
}

}  // namespace cudal1::model
