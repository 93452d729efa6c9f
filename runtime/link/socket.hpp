// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/wire.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cudal1::runtime {

namespace wire = record::wire;

// The end of the socket to `cudal1 record` that a recorded program holds. When cudal1 is gone, so is the program: nothing
// of it would be recorded any more.
class Socket {
 public:
  // By the path that cudal1 put into the environment. False, and errno, where that is none or nobody listens.
  bool connect();

  void send(const void* bytes, std::size_t count) const;
  void receive(void* bytes, std::size_t count) const;
  void message(wire::Kind kind, std::string_view text, std::string_view rest = {}) const;
  std::string reply() const;
  int descriptor() const { return socket_; }

  [[noreturn]] static void give_up(const std::string& why);

 private:
  int socket_ = -1;
};

}  // namespace cudal1::runtime
