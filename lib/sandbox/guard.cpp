// SPDX-License-Identifier: Apache-2.0
#include "sandbox/guard.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudal1::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr timespec interval{0, 200'000'000};
constexpr int files_every = 5;         // the folder is counted more rarely
constexpr std::size_t memory_left = 32;   // a part of the machine's memory of 1 / this stays free

struct Used {
  std::size_t processes = 0, threads = 0;
};

// Of the group of this process, without itself.
Used used() {
  Used sum;
  std::error_code ignored;
  const pid_t own = ::getpid();
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid == own) continue;
    if (::getpgid(pid) != own) continue;
    ++sum.processes;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // The name, in brackets, may hold anything; number 20 is the count of threads.
    const std::size_t end = line.rfind(')');
    std::size_t at = end;
    for (int field = 2; field < 20 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
    if (at != std::string::npos) sum.threads += static_cast<std::size_t>(std::max(std::atoi(line.c_str() + at), 0));
  }
  return sum;
}

bool memory_runs_out() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::size_t total = 0, available = 0, value = 0;
  for (std::string unit; file >> word >> value; std::getline(file, unit)) {
    if (word == "MemTotal:") total = value;
    if (word == "MemAvailable:") available = value;
  }
  return total > 0 && available > 0 && available < total / memory_left;
}

std::optional<std::string> too_many_files(const fs::path& folder, const Bounds& bounds) {
  std::size_t count = 0, bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    const auto status = entry->symlink_status(ignored);
    if (++count > bounds.files) return fmt::format("more than {} files", bounds.files);
    if (fs::is_regular_file(status))
      if (const auto size = entry->file_size(ignored); !ignored) bytes += size;
    if (bytes > bounds.file_bytes) return fmt::format("more than {} GiB of files", bounds.file_bytes >> 30);
  }
  return std::nullopt;
}

// Not this process: it leaves the group meanwhile. One signal to a group reaches whatever is being forked, too.
void kill_group() {
  const pid_t own = ::getpid();
  const pid_t elsewhere = ::getpgid(::getppid());
  const bool left = elsewhere > 0 && elsewhere != own && ::setpgid(0, elsewhere) == 0;
  if (!left) {
    // The parent's group is of another session: the processes one by one, until there is none.
    for (bool found = true; found;) {
      found = false;
      std::error_code ignored;
      for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        pid_t pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid == own) continue;
        if (::getpgid(pid) == own && ::kill(pid, SIGKILL) == 0) found = true;
      }
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {}
    }
    return;
  }
  ::kill(-own, SIGKILL);
  ::setpgid(0, own);
}

}  // namespace

int guard(pid_t child, const fs::path& folder, const Bounds& bounds) {
  const auto ended = [&] {
    siginfo_t facts{};
    return ::waitid(P_PID, static_cast<id_t>(child), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 || facts.si_pid == child;
  };
  // It is in the group that it guards, and a signal to the group could stop it alone. One that ends it ends the child, too.
  for (const int stops : {SIGTSTP, SIGTTIN, SIGTTOU}) ::signal(stops, SIG_IGN);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  for (int round = 0; !ended(); ++round) {
    std::optional<std::string> excess;
    const Used now = used();
    if (now.processes > bounds.processes) excess = fmt::format("more than {} processes", bounds.processes);
    else if (now.threads > bounds.threads) excess = fmt::format("more than {} threads", bounds.threads);
    else if (memory_runs_out()) excess = "nearly all of the machine's memory";
    else if (round % files_every == 0) excess = too_many_files(folder, bounds);
    if (excess) {
      fmt::print(stderr, "\nit used {}, and was stopped\n", *excess);
      break;
    }
    ::sigtimedwait(&ends, nullptr, &interval);
  }
  const bool by_itself = ended();
  int status = 0;
  if (by_itself) ::waitpid(child, &status, 0);
  kill_group();
  if (!by_itself) ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace cudal1::sandbox
