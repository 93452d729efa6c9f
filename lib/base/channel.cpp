// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace cudal1::base {
namespace {

constexpr std::size_t header_size = sizeof(std::uint64_t);
constexpr std::uint64_t largest_message = std::uint64_t{2} << 30;
constexpr std::size_t read_step = std::size_t{1} << 20;  // memory follows what arrives, not what a length promises

bool send_all(int descriptor, std::string_view bytes, int flags) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | flags);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// False at the deadline.
bool wait_readable(int descriptor, Seconds deadline) {
  for (;;) {
    const Seconds left = deadline - now();
    pollfd event{descriptor, POLLIN, 0};
    const int milliseconds = static_cast<int>(std::clamp(left.count(), 0.0, 1e6) * 1e3 + 0.999);
    const int count = ::poll(&event, 1, milliseconds);
    if (count > 0) return true;
    if ((count == 0 || errno == EINTR) && now() < deadline) continue;
    return count < 0 && errno != EINTR;  // a broken descriptor is told by the read that follows
  }
}

}  // namespace

bool Channel::send(std::string_view message) {
  if (message.size() > largest_message) throw Error(Fault::internal, "a message to a worker is larger than 2 GiB");
  const std::uint64_t length = message.size();
  char header[header_size];
  std::memcpy(header, &length, header_size);
  return send_all(descriptor_, {header, header_size}, message.empty() ? 0 : MSG_MORE) && send_all(descriptor_, message, 0);
}

Channel::Status Channel::receive(std::string& message, std::optional<Seconds> limit) {
  const Seconds deadline = limit ? now() + *limit : Seconds{0};
  for (;;) {
    std::size_t wanted = header_size;
    if (arrived_.size() >= header_size) {
      std::uint64_t length = 0;
      std::memcpy(&length, arrived_.data(), header_size);
      if (length > largest_message) return Status::closed;  // not one of ours: nothing after it can be understood
      wanted += length;
      if (arrived_.size() == wanted) {
        message.assign(arrived_, header_size);
        arrived_ = {};
        return Status::message;
      }
    }
    if (limit && !wait_readable(descriptor_, deadline)) return Status::timeout;
    const std::size_t have = arrived_.size();
    const std::size_t step = std::min(wanted - have, read_step);
    arrived_.resize(have + step);
    const ssize_t count = ::recv(descriptor_, arrived_.data() + have, step, 0);
    const int why = errno;
    arrived_.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0 || (count < 0 && why != EINTR)) return Status::closed;
  }
}

Channel worker_channel() {
  struct stat facts {};
  if (::fstat(3, &facts) != 0 || !S_ISSOCK(facts.st_mode))
    throw Error(Fault::usage, "this command is started by cudal1 itself, not by hand");
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  return Channel(3);
}

}  // namespace cudal1::base
