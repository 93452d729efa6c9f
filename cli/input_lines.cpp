// SPDX-License-Identifier: Apache-2.0
#include "input_lines.hpp"

#include <array>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace cudal1::cli {

namespace {

constexpr int look_for_stop_ms = 200;

}  // namespace

bool InputLines::read_more() {
  std::array<char, 65536> buffer;
  while (!stop_.stop_requested()) {
    pollfd wanted{descriptor_, POLLIN, 0};
    const int ready = poll(&wanted, 1, look_for_stop_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    read_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }
  return false;
}

std::optional<std::string> InputLines::next() {
  for (;;) {
    if (stop_.stop_requested()) return std::nullopt;
    if (const auto end = read_.find('\n', searched_); end != std::string::npos) {
      std::string line = read_.substr(at_, end - at_);
      at_ = searched_ = end + 1;
      return line;
    }
    read_.erase(0, at_);
    at_ = 0;
    searched_ = read_.size();
    if (ended_) {
      if (read_.empty()) return std::nullopt;
      searched_ = 0;
      return std::exchange(read_, {});
    }
    ended_ = !read_more();
  }
}

}  // namespace cudal1::cli
