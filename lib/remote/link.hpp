// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace cudal1::remote {

// What goes through a connection between this machine and another, which may break and be made again.
struct Frame {
  enum class Kind : std::uint8_t {
    hello,     // the first after a connection was made: `seen`, and the body names the session
    message,   // of the worker or to it
    ended,     // the worker did: the last of all
    bye,       // it is not wanted any more
  };
  Kind kind = Kind::message;
  std::uint64_t number = 0;   // of messages and the end, from 1; 0 for the others
  std::uint64_t seen = 0;     // the last number that the sender of this frame got
  std::string body;
};

// Frames over two descriptors, which belong to somebody else.
class Wire {
 public:
  Wire(int in, int out) : in_(in), out_(out) {}
  bool send(const Frame& frame);          // false: the connection is gone
  bool receive(std::deque<Frame>& into);  // what has arrived, without waiting for the rest; false: the connection is gone

 private:
  int in_, out_;
  std::string arrived_;
};

// What one side has sent that the other has not confirmed, and what it got: nothing is lost with a connection, and nothing comes twice.
class Ledger {
 public:
  Frame outgoing(Frame::Kind kind, std::string body);   // numbered, and kept until it is confirmed
  Frame hello(std::string body) const { return {Frame::Kind::hello, 0, received_, std::move(body)}; }
  // Takes note of what arrived. False: it had come before, something before it has not come yet, or it carries nothing for whoever is served.
  bool take(const Frame& frame);
  const std::deque<Frame>& unconfirmed() const { return kept_; }

 private:
  std::deque<Frame> kept_;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace cudal1::remote
