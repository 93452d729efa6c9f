// SPDX-License-Identifier: Apache-2.0
#include "remote/link.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace cudal1::remote {

namespace {

constexpr std::size_t header_bytes = 25;                               // length, kind, number, seen
constexpr std::uint64_t largest_body = std::uint64_t{2} << 30;

void put(std::string& text, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text.append(bytes, sizeof value);
}

std::uint64_t number_at(const std::string& text, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, text.data() + at, sizeof value);
  return value;
}

}  // namespace

bool Wire::send(const Frame& frame) {
  std::string text;
  put(text, frame.body.size());
  text += static_cast<char>(frame.kind);
  put(text, frame.number);
  put(text, frame.seen);
  text += frame.body;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(out_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool Wire::receive(std::deque<Frame>& into) {
  char block[1 << 16];
  ssize_t count = 0;
  while ((count = ::read(in_, block, sizeof block)) < 0 && errno == EINTR) {}
  if (count <= 0) return false;
  arrived_.append(block, static_cast<std::size_t>(count));
  std::size_t at = 0;
  while (arrived_.size() - at >= header_bytes) {
    const std::uint64_t length = number_at(arrived_, at);
    if (length > largest_body) return false;   // not one of ours
    if (arrived_.size() - at - header_bytes < length) break;
    into.push_back({static_cast<Frame::Kind>(arrived_[at + 8]), number_at(arrived_, at + 9), number_at(arrived_, at + 17), arrived_.substr(at + header_bytes, length)});
    at += header_bytes + length;
  }
  arrived_.erase(0, at);
  return true;
}

Frame Ledger::outgoing(Frame::Kind kind, std::string body) {
  kept_.push_back({kind, ++sent_, received_, std::move(body)});
  return kept_.back();
}

bool Ledger::take(const Frame& frame) {
  while (!kept_.empty() && kept_.front().number <= frame.seen) kept_.pop_front();
  if (frame.number != received_ + 1) return false;   // beyond it something is missing, and both will be sent again
  received_ = frame.number;
  return true;
}

}  // namespace cudal1::remote
