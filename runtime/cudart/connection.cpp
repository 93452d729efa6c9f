// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cudal1::runtime {

Connection& Connection::get() {
  static auto* connection = new Connection;  // outlives every destructor of the program
  return *connection;
}

Connection::Connection() {
  const char* path = std::getenv(wire::socket_variable);
  if (path == nullptr) Socket::give_up("this is no CUDA driver; start the program with: cudal1 record -- PROGRAM");
  if (!socket_.connect()) Socket::give_up(std::string("cannot reach cudal1 at ") + path);
  const std::string name = program_invocation_short_name;
  const wire::Hello hello{wire::version, ::getpid()};
  socket_.message(wire::Kind::hello, {reinterpret_cast<const char*>(&hello), sizeof hello}, name);

  wire::Header answer;
  socket_.receive(&answer, sizeof answer);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&device_, sizeof device_};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket_.descriptor(), &message, MSG_WAITALL | MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof device_)) Socket::give_up("cudal1 did not answer");
  const cmsghdr* handed = CMSG_FIRSTHDR(&message);
  if (handed == nullptr || handed->cmsg_type != SCM_RIGHTS) Socket::give_up("cudal1 gave no memory");
  int memory = -1;
  std::memcpy(&memory, CMSG_DATA(handed), sizeof memory);
  auto* const wanted = reinterpret_cast<void*>(device_.base);
  void* const got = ::mmap(wanted, device_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, memory, 0);
  if (got != wanted) Socket::give_up("the addresses of the simulated memory are taken in this process");
  ::close(memory);
}

std::string Connection::exchange(wire::Kind kind, std::string_view message, std::string_view rest, bool reply) {
  const std::lock_guard lock(mutex_);
  socket_.message(kind, message, rest);
  return reply ? socket_.reply() : std::string();
}

}  // namespace cudal1::runtime
