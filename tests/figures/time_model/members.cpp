// SPDX-License-Identifier: Apache-2.0
#include "members.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace cudal1::time_model {

namespace {

kernel::Plan plan_of(const kernel::File& file, kernel::Environment environment, const kernel::Environment& tunables) {
  for (const auto& [name, value] : tunables) environment[name] = value;
  auto plan = kernel::resolve(file, environment);
  if (!plan) throw base::Error(base::Fault::bad_input, base::render(plan.error()));
  return *std::move(plan);
}

std::string label_of(const kernel::Environment& tunables) {
  std::string label;
  for (const auto& [name, value] : tunables)
    label += fmt::format("{}{}={}", label.empty() ? "" : " ", name, std::get<std::int64_t>(value));
  return label;
}

// A task has no tunables: each becomes a size with its first value, which only the task's own plan sees.
std::string as_task(const std::string& source) {
  std::istringstream lines(source);
  std::string line, result;
  while (std::getline(lines, line)) {
    if (line.starts_with("//@ tune")) line = "//@ size" + line.substr(8, line.find('|') - 8);
    result += line + "\n";
  }
  return result;
}

}  // namespace

std::vector<Family> families(const std::filesystem::path& folder, const std::vector<std::string>& only) {
  std::vector<Family> result;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cu" && (only.empty() || std::find(only.begin(), only.end(), entry.path().stem()) != only.end()))
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::pair<std::size_t, kernel::Environment>> work;
  for (const auto& path : paths) {
    const std::string source = base::read_file(path);
    Family family{path.stem(), task::from_source(as_task(source), path), {}};
    const auto file = kernel::parse(source, path.filename());
    if (!file) throw base::Error(base::Fault::bad_input, base::render(file.error()));
    family.task.file = *file;
    const auto members = kernel::family(*file);
    if (!members) throw base::Error(base::Fault::bad_input, base::render(members.error()));
    for (const kernel::Environment& tunables : *members) {
      Member member;
      member.label = label_of(tunables);
      member.plan = plan_of(*file, family.task.workloads.front().environment, tunables);
      member.check = plan_of(*file, family.task.checks.front().environment, tunables);
      family.members.push_back(std::move(member));
      work.emplace_back(result.size(), tunables);
    }
    result.push_back(std::move(family));
  }
  compile::CompilerOptions options;
  options.worker = {base::own_executable(), {"worker"}};
  options.sandbox = false;  // these kernels are our own
  compile::Compiler compiler(options);
  std::vector<std::size_t> next(result.size());
  std::vector<Member*> targets;
  for (const auto& one : work) targets.push_back(&result[one.first].members[next[one.first]++]);
  base::in_parallel(work.size(), [&](std::size_t i) {
    const task::Task& task = result[work[i].first].task;
    compile::Request request;
    request.source = task.file.source;
    request.name = task.file.name;
    request.prelude = kernel::tunable_prelude(work[i].second);
    request.kernels = targets[i]->plan.kernels();
    auto compiled = compiler.compile(request);
    if (!compiled)
      throw base::Error(base::Fault::bad_input, fmt::format("{} {}: {}", task.file.name, targets[i]->label,
                                                            compiled.error().diagnostics.empty() ? compiled.error().message : base::render(compiled.error().diagnostics.front())));
    targets[i]->binary = std::move(compiled->binary);
  });
  return result;
}

}  // namespace cudal1::time_model
