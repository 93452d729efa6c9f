// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cudal1::runtime {

Connection& Connection::get() {
  static auto* connection = new Connection;  // outlives every destructor of the program
  return *connection;
}

void Connection::give_up(const std::string& why) {
  std::fprintf(stderr, "cudal1's CUDA runtime: %s\n", why.c_str());
  std::_Exit(127);
}

Connection::Connection() {
  const char* path = std::getenv(wire::socket_variable);
  if (path == nullptr) give_up("this is no CUDA driver; start the program with: cudal1 record -- PROGRAM");
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up(std::string("cannot reach cudal1 at ") + path);
  const std::string name = program_invocation_short_name;
  const wire::Hello hello{wire::version, ::getpid()};
  const wire::Header header{wire::Kind::hello, static_cast<std::uint32_t>(sizeof hello + name.size())};
  send(&header, sizeof header);
  send(&hello, sizeof hello);
  send(name.data(), name.size());

  wire::Header answer;
  receive(&answer, sizeof answer);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&device_, sizeof device_};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket_, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof device_)) give_up("cudal1 did not answer");
  const cmsghdr* handed = CMSG_FIRSTHDR(&message);
  if (handed == nullptr || handed->cmsg_type != SCM_RIGHTS) give_up("cudal1 gave no memory");
  int memory = -1;
  std::memcpy(&memory, CMSG_DATA(handed), sizeof memory);
  auto* const wanted = reinterpret_cast<void*>(device_.base);
  void* const got = ::mmap(wanted, device_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, memory, 0);
  if (got != wanted) give_up("the addresses of the simulated memory are taken in this process");
  ::close(memory);
}

void Connection::send(const void* bytes, std::size_t count) const {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(socket_, at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) give_up("cudal1 has gone");
    at += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void Connection::receive(void* bytes, std::size_t count) const {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::recv(socket_, at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) give_up("cudal1 has gone");
    at += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::string Connection::exchange(wire::Kind kind, std::string_view message, std::string_view rest, bool reply) {
  const std::lock_guard lock(mutex_);
  const wire::Header header{kind, static_cast<std::uint32_t>(message.size() + rest.size())};
  send(&header, sizeof header);
  send(message.data(), message.size());
  send(rest.data(), rest.size());
  if (!reply) return {};
  wire::Header answer;
  receive(&answer, sizeof answer);
  std::string got(answer.bytes, '\0');
  receive(got.data(), got.size());
  return got;
}

}  // namespace cudal1::runtime
