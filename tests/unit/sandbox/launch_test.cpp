// SPDX-License-Identifier: Apache-2.0
#include "sandbox/launch.hpp"

#include "base/file.hpp"
#include "catch.hpp"
#include "sandbox/call_filter.hpp"
#include "sandbox/landlock.hpp"

#include <cerrno>
#include <csignal>
#include <string>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cudal1;

namespace {

struct Outcome {
  int code = -1;
  std::string out;
  bool survivors = false;   // in its process group
};

// A shell's commands, confined. Without a sandbox on this system: nothing.
class Cell {
 public:
  explicit Cell(bool namespaces) {
    launch_.environment = {"PATH=/usr/bin:/bin", "GIVEN=yes"};
    launch_.folder = own.path();
    launch_.files.runnable = {"/usr", "/bin", "/lib", "/lib64"};
    launch_.files.writable = {own.path()};
    launch_.files.devices = {"/dev/null"};
    launch_.namespaces = namespaces;
  }
  Outcome run(const std::string& commands) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    launch_.arguments = {"/bin/sh", "-c", commands};
    const pid_t child = fork();
    if (child == 0) {
      setpgid(0, 0);
      dup2(ends[1], 1);
      dup2(ends[1], 2);
      close(ends[0]);
      _exit(sandbox::launch(launch_, [](const sandbox::Confined&) {}));
    }
    close(ends[1]);
    Outcome outcome;
    char block[4096];
    for (ssize_t count; (count = read(ends[0], block, sizeof block)) > 0;) outcome.out.append(block, static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    for (int i = 0; i < 100 && (outcome.survivors = kill(-child, 0) == 0); ++i) usleep(50'000);   // until the dead are reaped
    return outcome;
  }
  sandbox::Bounds& bounds() { return launch_.bounds; }
  base::TemporaryFolder own, other;

 private:
  sandbox::Launch launch_;
};

bool sandboxed() { return sandbox::landlock_abi() > 0 && sandbox::seccomp_available(); }

}  // namespace

TEST_CASE("a confined program has its folder and nothing else to write to, whatever namespaces there are") {
  if (!sandboxed()) CUDAL1_SKIP("no Landlock or no seccomp on this machine");
  for (const bool namespaces : {true, false}) {
    Cell cell(namespaces);
    base::write_file(cell.other.path() / "file", "x");
    const std::string other = cell.other.path().string();
    CHECK(cell.run("echo y > made && cat made && exit 3").out == "y\n");
    CHECK(cell.run("exit 3").code == 3);
    CHECK(cell.run("cat " + other + "/file").code != 0);
    CHECK(cell.run("echo y > " + other + "/file").code != 0);
    CHECK(cell.run("rm " + other + "/file").code != 0);
    CHECK(cell.run("echo y > /dev/shm/cudal1-escaped; true").code == 0);
    CHECK_FALSE(std::filesystem::exists("/dev/shm/cudal1-escaped"));
    CHECK(base::read_file(cell.other.path() / "file") == "x");
    CHECK(cell.run("env").out.find("GIVEN=yes") != std::string::npos);
    CHECK(cell.run("env").out.find("HOME=") == std::string::npos);
  }
}

TEST_CASE("a confined program signals nobody outside") {
  if (!sandboxed()) CUDAL1_SKIP("no Landlock or no seccomp on this machine");
  for (const bool namespaces : {true, false}) {
    Cell cell(namespaces);
    CHECK(cell.run(fmt::format("kill -0 {}", getpid())).code != 0);
    CHECK(cell.run("kill -0 $PPID").code != 0);
    CHECK(cell.run("cat /proc/$PPID/environ /proc/" + std::to_string(getpid()) + "/cmdline").code != 0);
  }
}

TEST_CASE("what a confined program started ends with it, sessions of their own included") {
  if (!sandboxed()) CUDAL1_SKIP("no Landlock or no seccomp on this machine");
  for (const bool namespaces : {true, false}) {
    Cell cell(namespaces);
    const Outcome outcome = cell.run("setsid sleep 600 > /dev/null 2>&1 & sleep 600 > /dev/null 2>&1 & exit 0");
    CHECK(outcome.code == 0);
    CHECK_FALSE(outcome.survivors);
    CHECK(cell.run("kill -9 $$").code == (namespaces || sandbox::landlock_abi() >= 6 ? 128 + SIGKILL : 0));
  }
}

TEST_CASE("more processes or files than its bounds end a confined program, and it says so") {
  if (!sandboxed()) CUDAL1_SKIP("no Landlock or no seccomp on this machine");
  for (const bool namespaces : {true, false}) {
    Cell cell(namespaces);
    cell.bounds().processes = 20;
    const Outcome many = cell.run("i=0; while [ $i -lt 60 ]; do sleep 600 & i=$((i + 1)); done; wait");
    CHECK(many.out.find("it used more than 20 processes, and was stopped") != std::string::npos);
    CHECK(many.code != 0);
    CHECK_FALSE(many.survivors);
    cell.bounds().files = 30;
    const Outcome files = cell.run("i=0; while [ $i -lt 60 ]; do : > file$i; i=$((i + 1)); done; sleep 600");
    CHECK(files.out.find("it used more than 30 files") != std::string::npos);
  }
}

TEST_CASE("a confined program builds a library, in a session of its own") {
  if (!sandboxed()) CUDAL1_SKIP("no Landlock or no seccomp on this machine");
  for (const bool namespaces : {true, false}) {
    Cell cell(namespaces);
    const Outcome outcome = cell.run("echo 'int f() { return 7; }' > a.cpp && TMPDIR=. setsid -w c++ -shared -fPIC a.cpp -o a.so && test -s a.so && exit 7");
    if (outcome.out.find("not found") != std::string::npos) CUDAL1_SKIP("no compiler on this machine");
    CHECK(outcome.code == 7);
  }
}

TEST_CASE("the sandbox for answers says what it consists of") {
  const sandbox::Confined found = sandbox::confinement();
  if (!sandboxed()) CHECK_FALSE(found.failed.empty());
  else CHECK(found.means.find("Landlock ABI") == 0);
}

TEST_CASE("a filter looks at the half of an argument that the kernel looks at") {
  if (!sandbox::seccomp_available()) CUDAL1_SKIP("no seccomp on this machine");
  const pid_t child = fork();
  if (child == 0) {
    sandbox::CallFilter filter(sandbox::Reply::allow);
    filter.reply(sandbox::Reply::refuse, "fcntl", {{1, sandbox::Condition::equal, 8, 0xffffffff}});
    if (!filter.install()) _exit(9);
    const long above = 1L << 32;
    int holes = 0;
    if (syscall(SYS_fcntl, 0, 8, getpid()) == 0 || errno != EPERM) holes |= 1;
    if (syscall(SYS_fcntl, 0, 8 + above, getpid()) == 0 || errno != EPERM) holes |= 2;
    if (syscall(SYS_fcntl, 0, 1, 0) < 0) holes |= 4;
    _exit(holes);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}
