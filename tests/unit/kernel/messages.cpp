// SPDX-License-Identifier: Apache-2.0
// Every tests/unit/kernel/messages/*.cu has its complaint, as the user reads it, in the .expected beside it. After a
// deliberate change, CUDAL1_ACCEPT=1 writes the new texts; look at the diff.
#include "base/file.hpp"
#include "catch.hpp"
#include "kernel/plan.hpp"
#include "kernel/workload.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

const std::filesystem::path folder = CUDAL1_SOURCE_DIR "/tests/unit/kernel/messages";

std::string at_sizes(const File& file, const Assignment& assignment) {
  auto values = environment(file, assignment);
  if (!values) return base::render(values.error());
  const auto members = family(file);
  if (!members) return base::render(members.error());
  values->insert(members->front().begin(), members->front().end());
  const auto plan = resolve(file, *values);
  return plan ? "" : base::render(plan.error());
}

std::string complaint(const std::filesystem::path& path) {
  const std::string source = base::read_file(path), name = path.filename().string();
  if (const auto valid = valid_host_text(source, name); !valid) return base::render(valid.error());
  auto file = parse(source, name);
  if (!file) return base::render(file.error());
  if (file->of) {
    const auto task = parse(base::read_file(folder / "tasks" / file->of->first), file->of->first);
    if (!task) return "the task itself is wrong:\n" + base::render(task.error());
    file = bind(*task, *file);
    if (!file) return base::render(file.error());
  }
  if (const auto diagnostics = validate_task(*file); !diagnostics.empty()) return base::render(diagnostics);
  std::vector<Assignment> all = workloads(*file);
  const std::vector<Assignment> more = checks(*file);
  all.insert(all.end(), more.begin(), more.end());
  for (const Assignment& assignment : all)
    if (std::string text = at_sizes(*file, assignment); !text.empty()) return text;
  return base::render(unlaunched(*file));
}

}  // namespace

TEST_CASE("every malformed file is answered with the expected message") {
  std::size_t count = 0;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cu") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    ++count;
    const std::string found = complaint(path);
    auto golden = path;
    golden.replace_extension(".expected");
    if (std::getenv("CUDAL1_ACCEPT") != nullptr) base::write_file(golden, found);
    INFO(path.filename().string());
    const bool exists = std::filesystem::exists(golden);
    CHECK(exists);
    CHECK_FALSE(found.empty());
    if (exists) CHECK(found == base::read_file(golden));
  }
  CHECK(count >= 30);
}
