// SPDX-License-Identifier: Apache-2.0
#include "compile/sandbox.hpp"

#include "base/file.hpp"
#include "compile/compiler.hpp"
#include "sandbox/call_filter.hpp"
#include "sandbox/landlock.hpp"
#include "catch.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cudal1;

namespace {

// What a confined process sees, one bit for each thing it should not be able to do, as its exit code.
template <typename Confine>
int holes(const char* allowed, Confine confine, bool expect_read) {
  const pid_t child = fork();
  if (child == 0) {
    confine();
    int found = 0;
    if (open("/etc/passwd", O_RDONLY) >= 0) found |= 1;
    if (open((std::string(allowed) + ".new").c_str(), O_WRONLY | O_CREAT, 0600) >= 0) found |= 2;
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0) found |= 4;
    if (const pid_t other = fork(); other >= 0) {
      if (other == 0) _exit(0);
      found |= 8;
    }
    execl("/bin/false", "false", nullptr);  // exits with 1
    if (errno != EPERM && errno != EACCES) found |= 16;
    const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
    if (kill(getppid(), 0) == 0 || setrlimit(RLIMIT_CORE, &more) == 0) found |= 32;
    if ((open(allowed, O_RDONLY) >= 0) != expect_read) found |= 64;
    _exit(found);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace

TEST_CASE("a confined process reads what it may and does nothing else") {
  if (!compile::sandbox_state().available || sandbox::landlock_abi() == 0) CUDAL1_SKIP("no Landlock on this machine");
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "header.h", "x");
  const std::string file = (folder.path() / "header.h").string();
  CHECK(holes(file.c_str(), [&] { compile::confine({folder.path()}); }, true) == 0);
  CHECK(holes(file.c_str(), [] {}, true) != 0);  // the probe itself can tell
}

TEST_CASE("without Landlock no file can be opened at all") {
  if (!sandbox::seccomp_available()) CUDAL1_SKIP("no seccomp on this machine");
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "header.h", "x");
  const std::string file = (folder.path() / "header.h").string();
  CHECK(holes(file.c_str(), [] { compile::confine_calls(false); }, false) == 0);
}

TEST_CASE("the sandbox says what it is") {
  const compile::SandboxState state = compile::sandbox_state();
  CHECK_FALSE(state.description.empty());
  if (sandbox::landlock_abi() > 0 && state.available) CHECK(state.description.find("Landlock ABI") == 0);
}

TEST_CASE("the search for NVRTC tells every place, and CUDA_PATH comes first") {
  const compile::NvrtcIdentity found = compile::find_nvrtc();
  CHECK_FALSE(found.searched.empty());
  const base::TemporaryFolder folder;
  for (const char* file : {"lib64/libnvrtc.so.12", "lib64/libnvrtc.so.13", "lib64/libnvrtc.alt.so.14", "lib64/libnvrtc-builtins.so.12.4",
                           "lib64/libnvrtc-builtins.so.13.2", "include/cuda_fp16.h"})
    base::write_file(folder.path() / file, "");
  const char* before = std::getenv("CUDA_PATH");
  const std::string kept = before != nullptr ? before : "";
  setenv("CUDA_PATH", folder.path().c_str(), 1);
  const compile::NvrtcIdentity fake = compile::find_nvrtc();
  setenv("CUDA_PATH", "/no/such/toolkit", 1);
  const compile::NvrtcIdentity other = compile::find_nvrtc();
  if (before != nullptr) setenv("CUDA_PATH", kept.c_str(), 1);
  else unsetenv("CUDA_PATH");
  CHECK(fake.library.filename() == "libnvrtc.so.13");
  CHECK(fake.builtins.filename() == "libnvrtc-builtins.so.13.2");
  CHECK(fake.major == 13);
  CHECK(fake.minor == 2);
  CHECK(std::filesystem::exists(fake.include_folder / "cuda_fp16.h"));
  CHECK(other.searched.front().find("/no/such/toolkit/lib64") != std::string::npos);
  CHECK(other.library.empty() == found.library.empty());
}
