// SPDX-License-Identifier: Apache-2.0
#include "judge/sanitizer.hpp"

#include "base/file.hpp"

#include "catch.hpp"

#include <cstdlib>

using namespace cudal1;
using judge::SanitizerLog;

namespace {

// Something in the place of compute-sanitizer; its arguments are --tool T --log-file F PROGRAM ARGUMENTS.
std::string result_of(const std::string& commands, bool slow, std::string* error = nullptr, std::size_t at_once = 4) {
  const base::TemporaryFolder folder;
  const auto script = folder.path() / "compute-sanitizer";
  base::write_file(script, "#!/bin/sh\n" + commands);
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto result = judge::run_sanitizer(script, {CUDAL1_WORKER, {"device"}}, [slow](judge::DeviceHost& host) {
    judge::OpenJob job;
    job.device = "sim";
    job.gpu = "H200";
    job.source = "//@ size N = 4\n//@ output C: float32[N]\n//@ launch k<<<1, 32>>>(C)\n__global__ void k(float* C) {}\n";
    job.path = "task.cu";
    const bool answered = host.ask(job, base::Seconds{20}, base::Seconds{20}).reply.has_value();
    return slow ? judge::Driven::too_slow : answered ? judge::Driven::done : judge::Driven::failed;
  }, at_once);
  if (error != nullptr) *error = result.first_error;
  return result.word;
}

// Its log, and whether it starts the program.
std::string result_with(const std::string& log, bool starts, std::string* error = nullptr, bool slow = false) {
  return result_of("cat >\"$4\" <<'END'\n" + log + "\nEND\nshift 4\n" + (starts ? "exec \"$@\"\n" : "exit 1\n"), slow, error);
}

}  // namespace

TEST_CASE("passed, found, refused and absent are different words") {
  CHECK(result_with("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors", true) == "passed");
  std::string error;
  CHECK(result_with("========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n"
                    "=========     at k+0x10\n========= ERROR SUMMARY: 1 error",
                    true, &error) == "found");
  CHECK(error == "Invalid __global__ write of size 4 bytes");
  CHECK(result_with("========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)", true) == "found");
  CHECK(result_with("========= Error: Target application terminated", true) == "refused");       // no summary
  CHECK(result_with("========= ERROR SUMMARY: 0 errors", false) == "refused");                    // did not run it
  CHECK(result_with("========= ERROR SUMMARY: 0 errors", true, nullptr, true) == "too slow");
  CHECK(judge::run_sanitizer(std::nullopt, {}, [](judge::DeviceHost&) { return judge::Driven::done; }).word == "absent");
}

TEST_CASE("all tools run, and what one finds counts though another refused") {
  const std::string log = "if [ \"$2\" = initcheck ]; then echo '========= Uninitialized read'; echo '========= ERROR SUMMARY: 2 errors'; fi";
  std::string error;
  CHECK(result_of("exec >\"$4\"\n" + log + "\nexec >&2\nshift 4\nexec \"$@\"\n", false, &error) == "found");
  CHECK(error == "Uninitialized read");
}

TEST_CASE("a large task is under one tool at a time") {
  const std::string alone = "here=$(dirname \"$0\")/busy\nmkdir \"$here\" || exit 1\necho '========= ERROR SUMMARY: 0 errors' >\"$4\"\nshift 4\n"
                            "sleep 0.1\n\"$@\"\nrmdir \"$here\"\n";
  CHECK(result_of(alone, false, nullptr, 1) == "passed");
  constexpr std::size_t memory = std::size_t{80} << 30;
  CHECK(judge::sanitizers_at_once(0, memory) == 4);
  CHECK(judge::sanitizers_at_once(1 << 30, memory) == 4);
  CHECK(judge::sanitizers_at_once(2.0 * (1 << 30), memory) == 2);
  CHECK(judge::sanitizers_at_once(40.0 * (1 << 30), memory) == 1);
}

TEST_CASE("compute-sanitizer is taken from the PATH, absolute entries only") {
  const base::TemporaryFolder folder;
  const auto script = folder.path() / "compute-sanitizer";
  base::write_file(script, "#!/bin/sh\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (".:" + folder.path().string()).c_str(), 1);
  const auto found = judge::find_sanitizer();
  ::setenv("PATH", before.c_str(), 1);
  REQUIRE(found);
  CHECK(*found == script);
}
