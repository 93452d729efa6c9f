// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "socket.hpp"

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::runtime {

// The one connection of this process to `cudal1 record`, made when it is first needed. It is never closed, because the
// program may call the runtime until its very end.
class Connection {
 public:
  static Connection& get();

  const wire::HelloReply& device() const { return device_; }
  bool on_device(const void* address) const {
    const auto at = reinterpret_cast<std::uint64_t>(address);
    return at >= device_.base && at - device_.base < device_.bytes;
  }

  // A message and its reply: a structure, then text in `rest`.
  template <typename Reply, typename Message>
  Reply ask(wire::Kind kind, const Message& message, std::string_view rest, std::string* more = nullptr) {
    const std::string got = exchange(kind, {reinterpret_cast<const char*>(&message), sizeof message}, rest, true);
    Reply reply{};
    if (got.size() < sizeof reply) return reply;
    got.copy(reinterpret_cast<char*>(&reply), sizeof reply);
    if (more != nullptr) *more = got.substr(sizeof reply);
    return reply;
  }
  template <typename Message>
  void tell(wire::Kind kind, const Message& message, std::string_view rest = {}) {
    exchange(kind, {reinterpret_cast<const char*>(&message), sizeof message}, rest, false);
  }

 private:
  Connection();
  std::string exchange(wire::Kind kind, std::string_view message, std::string_view rest, bool reply);

  std::mutex mutex_;
  Socket socket_;
  wire::HelloReply device_;
};

}  // namespace cudal1::runtime
