// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "catch.hpp"
#include "kernel/plan.hpp"
#include "kernel/workload.hpp"

#include <filesystem>

using namespace cudal1;
using namespace cudal1::kernel;

TEST_CASE("every example is a whole task and resolves at all its sizes") {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CUDAL1_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".cu") continue;
    ++count;
    INFO(entry.path().filename().string());
    const auto file = parse(base::read_file(entry.path()), entry.path().filename().string());
    if (!file) FAIL(base::render(file.error()));
    CHECK(base::render(validate_task(*file)).empty());
    CHECK(base::render(unlaunched(*file)).empty());
    std::vector<Assignment> all = workloads(*file);
    const std::vector<Assignment> more = checks(*file);
    all.insert(all.end(), more.begin(), more.end());
    for (const Assignment& assignment : all) {
      const auto values = environment(*file, assignment);
      if (!values) FAIL(base::render(values.error()));
      const auto plan = resolve(*file, *values);
      if (!plan) FAIL(base::render(plan.error()));
      CHECK_FALSE(plan->steps.empty());
    }
  }
  CHECK(count > 0);
}
