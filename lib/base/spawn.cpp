// SPDX-License-Identifier: Apache-2.0
#include "base/spawn.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudal1::base {
namespace {

namespace fs = std::filesystem;

// As execvp does, but here, because allocating memory between fork and exec is not safe. Empty when not found.
fs::path resolve(const fs::path& executable) {
  if (executable.native().find('/') != std::string::npos) return executable;
  const char* variable = std::getenv("PATH");
  std::string_view list = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const fs::path candidate = fs::path(list.substr(0, end)) / executable;
    std::error_code ignored;
    if (end > 0 && fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return {};
}

void close_from(unsigned first) {
  if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
  for (unsigned descriptor = first; descriptor < 4096; ++descriptor) ::close(static_cast<int>(descriptor));
}

void set_limit(std::size_t memory_limit_bytes) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
#ifndef CUDAL1_SANITIZED
  if (memory_limit_bytes > 0) {
    const rlimit memory{memory_limit_bytes, memory_limit_bytes};
    ::setrlimit(RLIMIT_DATA, &memory);
  }
#else
  static_cast<void>(memory_limit_bytes);
#endif
}

// Between fork and exec: only calls that are safe after the fork of a process with threads. Returns when something
// fails, with errno set.
void become(const char* path, char* const* arguments, char* const* environment, const SpawnOptions& options, pid_t parent,
            int failure) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above took effect
  // First out of the way of the numbers to be given, then to their places.
  const int moved_failure = ::fcntl(failure, F_DUPFD_CLOEXEC, 16);
  if (moved_failure < 0) return;
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  int moved[4];
  for (int i = 0; i < 4; ++i) {
    const int source = options.descriptors[static_cast<std::size_t>(i)];
    moved[i] = source >= 0 || i < 3 ? ::fcntl(source >= 0 ? source : null, F_DUPFD_CLOEXEC, 16) : -1;
    if (moved[i] < 0 && (i < 3 || source >= 0)) return;
  }
  for (int i = 0; i < 4; ++i)
    if (moved[i] >= 0 && ::dup2(moved[i], i) < 0) return;
  const int kept = moved[3] >= 0 ? 4 : 3;
  if (::dup3(moved_failure, kept, O_CLOEXEC) < 0) return;  // tells the parent; exec closes it
  close_from(static_cast<unsigned>(kept) + 1);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  set_limit(options.memory_limit_bytes);
  ::execve(path, arguments, environment);
  const int why = errno;
  static_cast<void>(!::write(kept, &why, sizeof why));
  ::_exit(127);
}

}  // namespace

bool named_like_a_key(std::string_view variable) {
  std::string name(variable.substr(0, variable.find('=')));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const char* word : {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "HEADERS"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

void Descriptor::reset(int value) {
  if (value_ >= 0) ::close(value_);
  value_ = value;
}

Pipe::Pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(Fault::internal, std::string("cannot open a pipe: ") + std::strerror(errno));
  read.reset(ends[0]);
  write.reset(ends[1]);
}

pid_t spawn(const Program& program, const SpawnOptions& options) {
  const fs::path path = resolve(program.executable);
  if (path.empty())
    throw Error(options.fault, "cannot start " + program.executable.string() + ": no such program on PATH");
  std::vector<std::string> words = {program.executable.string()};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    if (!options.withhold_keys || !named_like_a_key(*variable)) variables.push_back(*variable);
  variables.push_back(nullptr);

  Pipe failure;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(Fault::internal, std::string("cannot start another process: ") + std::strerror(errno));
  if (pid == 0) {
    become(path.c_str(), arguments.data(), variables.data(), options, parent, failure.write.value());
    const int why = errno;
    static_cast<void>(!::write(failure.write.value(), &why, sizeof why));
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // both sides do it, so that it holds whichever runs first
  failure.write.reset();
  int why = 0;
  ssize_t count;
  while ((count = ::read(failure.read.value(), &why, sizeof why)) < 0 && errno == EINTR) {}
  if (count == sizeof why) {
    ::waitpid(pid, nullptr, 0);
    throw Error(options.fault, "cannot start " + path.string() + ": " + std::strerror(why));
  }
  return pid;
}

bool wait_for_end(pid_t pid, Seconds limit) {
  const auto ended = [pid] {
    siginfo_t facts{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 || facts.si_pid == pid;
  };
  const Seconds deadline = now() + limit;
  if (ended()) return true;
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));  // close-on-exec by itself
  while (!ended()) {
    const Seconds left = deadline - now();
    if (left <= Seconds{0}) return false;
    pollfd event{handle.value(), POLLIN, 0};
    const Seconds step = handle.value() >= 0 ? std::min(left, Seconds{60}) : std::min(left, Seconds{0.005});
    ::poll(&event, 1, static_cast<int>(step.count() * 1e3) + 1);
  }
  return true;
}

WorkerEnd kill_and_reap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  WorkerEnd end;
  if (!wait_for_end(pid, Seconds{10})) return end;
  int status = 0;
  rusage usage{};
  while (::wait4(pid, &status, 0, &usage) < 0)
    if (errno != EINTR) return end;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.peak_memory_bytes = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  return end;
}

}  // namespace cudal1::base
