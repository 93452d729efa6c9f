// SPDX-License-Identifier: Apache-2.0
// kernelbench_plans CUDAL1 [--no-compile] FOLDER|MODULE…: what the built-in model answers to PyTorch modules, without a GPU. One line
// for each module: does it become a task, is there a plan, is every plan of the answers that a sweep asks for first one that can be
// launched, does each compile for an H200, and how long all of that takes. Then the modules that fail, by cause.
#include "base/diagnostic.hpp"
#include "base/error.hpp"
#include "compile/compiler.hpp"
#include "kernel/plan.hpp"
#include "playbook/candidate.hpp"
#include "pytorch/host.hpp"
#include "sim/sim.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace cudal1;

namespace {

constexpr std::size_t answers = 2;            // that a sweep asks for in its first round, and what each of them is checked with
constexpr double slow_plan = 20;              // seconds

struct Row {
  double task_seconds = 0, plan_seconds = 0, compile_seconds = 0, expected_ms = 0, gigabytes = 0;
  std::size_t candidates = 0, kernels = 0, launches = 0;
  std::vector<std::string> problems;
};

double seconds_since(base::Seconds start) { return (base::now() - start).count(); }

// The plan of each member of a candidate's family at the task's size; those of its kernels that the first member launches.
std::optional<compile::Request> plans_of(const task::Task& task, const playbook::Candidate& candidate, Row& row, bool first) {
  const auto parsed = kernel::parse(candidate.source, "answer.cu");
  if (!parsed) return row.problems.push_back(fmt::format("{} is no kernel file: {}", candidate.id, base::render(parsed.error()))), std::nullopt;
  const auto file = kernel::bind(task.file, *parsed);
  if (!file) return row.problems.push_back(fmt::format("{} does not fit its task: {}", candidate.id, base::render(file.error()))), std::nullopt;
  const auto members = kernel::family(*file);
  if (!members) return row.problems.push_back(fmt::format("{} has no members: {}", candidate.id, base::render(members.error()))), std::nullopt;
  std::set<std::string> kernels;
  for (const kernel::Environment& member : *members) {
    kernel::Environment environment = task.workloads[0].environment;
    environment.insert(member.begin(), member.end());
    const auto plan = kernel::resolve(*file, environment);
    if (!plan) return row.problems.push_back(fmt::format("{} has an invalid plan: {}", candidate.id, base::render(plan.error()))), std::nullopt;
    if (&member != &members->front()) continue;
    std::size_t launches = 0;
    double bytes = 0;
    for (const kernel::PlanBuffer& buffer : plan->buffers) bytes += static_cast<double>(buffer.bytes);
    for (const kernel::PlanStep& step : plan->steps)
      if (const auto* launch = std::get_if<kernel::Launch>(&step)) kernels.insert(launch->kernel), ++launches;
    if (first) row.kernels = kernels.size(), row.launches = launches, row.gigabytes = bytes / 1e9;
  }
  compile::Request request;
  request.source = file->source;
  request.name = file->name;
  request.prelude = kernel::tunable_prelude(members->front());
  request.kernels.assign(kernels.begin(), kernels.end());
  return request;
}

Row examine(const std::filesystem::path& path, pytorch::Host& host, const outcome::DeviceFacts& gpu, compile::Compiler* compiler) {
  Row row;
  base::Seconds start = base::now();
  std::optional<task::Task> task;
  try {
    task = host.open(path, {}, std::numeric_limits<std::size_t>::max());
  } catch (const base::Error& error) {
    row.problems.push_back(fmt::format("no task: {}", error.what()));
    return row;
  }
  row.task_seconds = seconds_since(start);
  start = base::now();
  const playbook::Candidates found = playbook::candidates_for(*task, outcome::Precision::reference, gpu);
  row.plan_seconds = seconds_since(start);
  row.candidates = found.list.size();
  if (found.list.empty()) row.problems.push_back(fmt::format("no plan: {}", found.refusal));
  if (row.plan_seconds > slow_plan) row.problems.push_back(fmt::format("a plan takes more than {} s", slow_plan));
  if (!found.list.empty()) row.expected_ms = 1000 * playbook::expected_seconds(found.list.front(), gpu);
  for (std::size_t i = 0; i < std::min(answers, found.list.size()); ++i) {
    const auto request = plans_of(*task, found.list[i], row, i == 0);
    if (!request || compiler == nullptr) continue;
    start = base::now();
    if (const auto compiled = compiler->compile(*request); !compiled)
      row.problems.push_back(fmt::format("{} does not compile: {}", found.list[i].id, compiled.error().message));
    row.compile_seconds += seconds_since(start);
  }
  return row;
}

std::vector<std::filesystem::path> modules(char** from, char** to) {
  std::vector<std::filesystem::path> result;
  for (; from != to; ++from) {
    if (!std::filesystem::is_directory(*from)) result.emplace_back(*from);
    else
      for (const auto& entry : std::filesystem::recursive_directory_iterator(*from))
        if (entry.path().extension() == ".py") result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const bool compiles = count < 3 || std::string(arguments[2]) != "--no-compile";
    if (count < 3) throw base::Error(base::Fault::usage, "give the program, then folders or modules");
    compile::CompilerOptions options;
    options.worker = {arguments[1], {"worker", "compile"}};
    options.limits.time = base::Seconds(120);   // a busy machine's; what it takes is in the table
    std::optional<compile::Compiler> compiler;
    if (compiles) compiler.emplace(options);
    pytorch::Host host({"", "cpu", 0});
    std::map<std::string, std::vector<std::string>> causes;
    fmt::print("task s\tplan s\tcompile s\tanswers\tlaunches\tkernels\tGB\texpected ms\tmodule\tproblem\n");
    const auto all = modules(arguments + (compiles ? 2 : 3), arguments + count);
    for (const auto& path : all) {
      const Row row = examine(path, host, sim::gpu("H200"), compiler ? &*compiler : nullptr);
      const std::string name = (path.parent_path().filename() / path.stem()).string();
      fmt::print("{:.2f}\t{:.2f}\t{:.1f}\t{}\t{}\t{}\t{:.1f}\t{:.3f}\t{}\t{}\n", row.task_seconds, row.plan_seconds, row.compile_seconds,
                 row.candidates, row.launches, row.kernels, row.gigabytes, row.expected_ms, name, fmt::join(row.problems, "; "));
      std::fflush(stdout);
      for (const std::string& problem : row.problems) causes[problem].push_back(name);
    }
    std::set<std::string> failed;
    for (const auto& [cause, names] : causes) {
      fmt::print("{}: {}\n", cause, fmt::join(names, " "));
      failed.insert(names.begin(), names.end());
    }
    fmt::print("{} of {} modules without a problem\n", all.size() - failed.size(), all.size());
  } catch (const std::exception& problem) {
    fmt::print(stderr, "kernelbench_plans: {}\n", problem.what());
    return 1;
  }
}
