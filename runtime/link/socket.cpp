// SPDX-License-Identifier: Apache-2.0
#include "socket.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

namespace cudal1::runtime {

void Socket::give_up(const std::string& why) {
  std::fprintf(stderr, "cudal1 record: %s\n", why.c_str());
  std::_Exit(127);
}

bool Socket::connect() {
  const char* path = std::getenv(wire::socket_variable);
  if (path == nullptr) return errno = ENOENT, false;
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return socket_ >= 0 && ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void Socket::send(const void* bytes, std::size_t count) const {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(socket_, at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) give_up("cudal1 has gone");
    at += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void Socket::receive(void* bytes, std::size_t count) const {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::recv(socket_, at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) give_up("cudal1 has gone");
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

void Socket::message(wire::Kind kind, std::string_view text, std::string_view rest) const {
  const wire::Header header{kind, static_cast<std::uint32_t>(text.size() + rest.size())};
  send(&header, sizeof header);
  send(text.data(), text.size());
  send(rest.data(), rest.size());
}

std::string Socket::reply() const {
  wire::Header answer;
  receive(&answer, sizeof answer);
  std::string got(answer.bytes, '\0');
  receive(got.data(), got.size());
  return got;
}

}  // namespace cudal1::runtime
