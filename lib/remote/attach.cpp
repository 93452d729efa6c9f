// SPDX-License-Identifier: Apache-2.0
#include "remote/keeper.hpp"
#include "remote/relay.hpp"

#include "base/file.hpp"
#include "base/spawn.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace cudal1::remote {

namespace {

// In the working folder, because a socket's name is short.
sockaddr_un address_of(const std::string& session) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, session.c_str(), sizeof address.sun_path - 1);
  return address;
}

bool connected(int descriptor, const std::string& session) {
  const sockaddr_un address = address_of(session);
  return ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// The keeper: away from the connection that it was started over, with a socket that exists before anybody looks for it.
bool start_keeper(const std::string& session, const base::Program& worker) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(session);
  if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 4) != 0) return false;
  const pid_t child = ::fork();
  if (child != 0) {
    ::close(listener);
    return child > 0;
  }
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < 3; ++standard) ::dup2(null, standard);
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_IGN);
  try {
    keep(listener, worker);
  } catch (const std::exception&) {   // nobody is left to tell; whoever waits sees the socket end
  }
  ::unlink(session.c_str());
  ::_exit(0);
}

// False: no more can come.
bool pass(int from, int to) {
  char block[1 << 16];
  const ssize_t count = ::read(from, block, sizeof block);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  for (ssize_t done = 0; done < count;) {
    const ssize_t written = ::write(to, block + done, static_cast<std::size_t>(count - done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += written;
  }
  return true;
}

}  // namespace

int attach_main(const std::string& session, bool may_start, const base::Program& worker) {
  if (session.empty() || session.size() > 64 || !std::all_of(session.begin(), session.end(), [](unsigned char c) { return std::isalnum(c) != 0; })) return 2;
  ::signal(SIGPIPE, SIG_IGN);
  const auto folder = base::cache_folder() / "sessions";
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0700);
  if (::chdir(folder.c_str()) != 0) return 2;
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connected(socket.value(), session)) {
    if (!may_start || !start_keeper(session, worker) || !connected(socket.value(), session)) {
      std::fputs("the session is not there any more\n", stderr);
      return session_gone;
    }
  }
  for (;;) {
    pollfd events[2] = {{0, POLLIN, 0}, {socket.value(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 && errno != EINTR) return 1;
    if (events[1].revents != 0 && !pass(socket.value(), 1)) return 0;
    if (events[0].revents != 0 && !pass(0, socket.value())) return 0;
  }
}

}  // namespace cudal1::remote
