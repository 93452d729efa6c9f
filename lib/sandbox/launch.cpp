// SPDX-License-Identifier: Apache-2.0
#include "sandbox/launch.hpp"

#include "sandbox/guard.hpp"
#include "sandbox/namespaces.hpp"
#include "sandbox/program_calls.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudal1::sandbox {
namespace {

constexpr int signal_scopes_since = 6;   // Landlock's version

// What a process under way to the program tells the one that stays, through a pipe.
struct Report {
  Mounts mounts;
  bool files = false, calls = false;
  int error = 0;
  char step[48] = {};
};

class Way {
 public:
  Way(const Launch& launch, const Namespaces& namespaces, int report) : launch_(launch), namespaces_(namespaces), report_(report), user_(::geteuid()), group_(::getegid()) {}

  // In the new process, to the end: becomes the program.
  void go() {
    if (namespaces_.users && !map_own_user(user_, group_)) give_up("mapping the user");
    if (namespaces_.others) {
      told_.mounts = mount_own(namespaces_.processes);
      if (!told_.mounts.own) give_up("mounting");
    }
    if (namespaces_.processes) begin_processes();
    confine();
    become();
  }

 private:
  void tell() { static_cast<void>(!::write(report_, &told_, sizeof told_)); }
  [[noreturn]] void give_up(const char* step) {
    told_.error = errno != 0 ? errno : EPERM;
    std::snprintf(told_.step, sizeof told_.step, "%s", step);
    tell();
    ::_exit(127);
  }

  // The first process of a namespace reaps all others, and ends them with itself.
  void begin_processes() {
    const pid_t first = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) give_up("starting a process");
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != first) ::_exit(127);
      return;
    }
    ::syscall(SYS_close_range, 0U, ~0U, 0U);
    int status = 0;
    for (pid_t ended = 0; ended != child;) {
      ended = ::waitpid(-1, &status, 0);
      if (ended < 0 && errno == ECHILD) ::_exit(127);
    }
    ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  }

  FileRules files() const {
    FileRules rules = launch_.files;
    if (told_.mounts.processes) {
      rules.readable.emplace_back("/proc");
    } else {
      // Its own folder, and what tells of the machine, but of no other process.
      for (const char* name : {"self", "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "devices", "filesystems", "modules", "driver", "sys"})
        rules.readable.push_back(std::filesystem::path("/proc") / name);
    }
    rules.written.emplace_back("/proc/self/task");   // where CUDA names its threads
    if (told_.mounts.shared_memory || launch_.shared_memory) rules.writable.emplace_back("/dev/shm");
    return rules;
  }

  void confine() {
    const rlimit no_core{0, 0}, size{launch_.bounds.file_bytes, launch_.bounds.file_bytes};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::setrlimit(RLIMIT_FSIZE, &size);
    // The kernel ends this one first when memory runs out.
    if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
      static_cast<void>(!::write(file, "1000", 4));
      ::close(file);
    }
    if (!drop_capabilities()) give_up("dropping capabilities");
    if (!launch_.folder.empty() && ::chdir(launch_.folder.c_str()) != 0) give_up("entering its folder");
    told_.files = confine_files(files());
    if (!told_.files && !launch_.unconfined) give_up("Landlock");
    CallFilter filter(Reply::unknown), commands(Reply::allow);
    rule_commands(commands);
    const bool kept_in = told_.files && landlock_abi() >= signal_scopes_since;
    rule(filter, {kept_in || namespaces_.processes, launch_.local_sockets});
    place_descriptors();
    told_.calls = commands.install() && filter.install();
    if (!told_.calls && !launch_.unconfined) give_up("seccomp");
  }

  // Out of the way first, then to their places; the report stays behind them until exec.
  void place_descriptors() {
    constexpr int far = 200;
    std::vector<int> moved;
    report_ = ::fcntl(report_, F_DUPFD_CLOEXEC, far);
    for (const int each : launch_.descriptors) moved.push_back(::fcntl(each, F_DUPFD_CLOEXEC, far));
    int place = 3;
    for (const int each : moved)
      if (::dup2(each, place++) < 0) give_up("handing over descriptors");
    ::syscall(SYS_close_range, static_cast<unsigned>(place), static_cast<unsigned>(report_ - 1), 0U);
    for (const int each : moved) ::close(each);
  }

  void become() {
    std::vector<char*> arguments, environment;
    for (const std::string& each : launch_.arguments) arguments.push_back(const_cast<char*>(each.c_str()));
    for (const std::string& each : launch_.environment) environment.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    if (arguments.front() != nullptr) {
      tell();
      ::execvpe(arguments.front(), arguments.data(), environment.data());
      std::fprintf(stderr, "cannot start %s: %s\n", arguments.front(), std::strerror(errno));
      ::_exit(127);
    }
    tell();
    ::_exit(0);
  }

  const Launch& launch_;
  Namespaces namespaces_;
  int report_;
  uid_t user_;
  gid_t group_;
  Report told_;
};

std::string means(const Report& report, const Namespaces& namespaces) {
  std::string text = report.files ? fmt::format("Landlock ABI {}", landlock_abi()) : "";
  if (report.calls) text += text.empty() ? "seccomp" : ", seccomp";
  if (namespaces.others) text += fmt::format(", own {}mounts, network and IPC", namespaces.processes ? "processes, " : "");
  return text.empty() ? "nothing" : text;
}

std::string lacking(const Report& report, const Namespaces& namespaces, const Launch& launch) {
  std::vector<std::string> list;
  if (!report.files) list.emplace_back("Landlock");
  if (!report.calls) list.emplace_back("seccomp");
  if (launch.namespaces && !namespaces.others) list.emplace_back("namespaces, which root has, or everybody where user namespaces are allowed");
  else if (launch.own_processes && !namespaces.processes) list.emplace_back("a namespace of processes");
  else if (namespaces.processes && !report.mounts.processes) list.emplace_back("a /proc of its own");
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

int launch(const Launch& launch, const std::function<void(const Confined&)>& tell) {
  std::vector<Namespaces> tries;
  if (launch.namespaces) {
    if (::geteuid() == 0) tries.push_back({false, true, launch.own_processes});
    tries.push_back({true, true, launch.own_processes});
  }
  tries.push_back({});
  for (std::size_t i = 0; i < tries.size(); ++i) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      tell({"", "", "a pipe cannot be opened"});
      return 127;
    }
    const pid_t child = fork_into(tries[i], [&] { Way(launch, tries[i], ends[1]).go(); });
    ::close(ends[1]);
    Report report;
    report.error = EPERM;
    std::snprintf(report.step, sizeof report.step, "starting a process");
    Report arrived;
    ssize_t count = -1;
    if (child > 0)
      while ((count = ::read(ends[0], &arrived, sizeof arrived)) < 0 && errno == EINTR) {}
    if (count == sizeof arrived) report = arrived;
    ::close(ends[0]);
    if (report.error != 0) {
      if (child > 0) ::waitpid(child, nullptr, 0);
      if (i + 1 < tries.size()) continue;
      tell({"", "", fmt::format("{}: {}", report.step, std::strerror(report.error))});
      return 127;
    }
    tell({means(report, tries[i]), lacking(report, tries[i], launch), ""});
    return guard(child, launch.counted.empty() ? launch.folder : launch.counted, launch.bounds);
  }
  return 127;
}

Confined confinement() {
  Confined found;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {"", "", "a pipe cannot be opened"};
  // In a group and without threads of its own, as launch() wants it.
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    Launch nothing;
    nothing.arguments = {};
    ::_exit(launch(nothing, [&](const Confined& told) {
      const std::string text = told.means + '\n' + told.lacking + '\n' + told.failed + '\n';
      static_cast<void>(!::write(ends[1], text.data(), text.size()));
    }));
  }
  ::close(ends[1]);
  std::string text;
  char block[512];
  for (ssize_t count; (count = ::read(ends[0], block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(count));
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  std::string* const parts[] = {&found.means, &found.lacking, &found.failed};
  std::size_t at = 0;
  for (std::string* part : parts) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    *part = text.substr(std::min(at, text.size()), end - std::min(at, text.size()));
    at = end + 1;
  }
  if (text.empty()) found.failed = "a process cannot be started";
  return found;
}

}  // namespace cudal1::sandbox
