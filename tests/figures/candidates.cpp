// SPDX-License-Identifier: Apache-2.0
// candidates [--tf32|--half] TASK… > FILE: every member of every kernel file that the playbook offers for the tasks, with its launches
// at the first workload, one JSON object per line: what candidate_times.py times on a GPU.
// candidates --replies TASK REPLY… > FILE: the same of a language model's replies to one task.
#include "base/error.hpp"
#include "base/file.hpp"
#include "compile/own_headers.hpp"
#include "kernel/plan.hpp"
#include "model/answer.hpp"
#include "playbook/candidate.hpp"
#include "task/task.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;
using nlohmann::json;

namespace {

json steps_of(const kernel::Plan& plan) {
  json steps = json::array();
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].initial && *plan.buffers[i].initial == 0) steps.push_back({{"memset", i}, {"value", 0}});
  for (const kernel::PlanStep& step : plan.steps) {
    if (const auto* memset = std::get_if<kernel::Memset>(&step)) {
      steps.push_back({{"memset", memset->buffer}, {"value", memset->value}});
      continue;
    }
    const auto& launch = std::get<kernel::Launch>(step);
    json arguments = json::array();
    for (const kernel::Argument& argument : launch.arguments) {
      if (const auto* buffer = std::get_if<kernel::BufferArgument>(&argument)) {
        arguments.push_back({{"buffer", buffer->buffer}, {"offset", buffer->byte_offset}});
        continue;
      }
      if (const auto* map = std::get_if<kernel::TensorMapArgument>(&argument)) {
        arguments.push_back({{"map", map->buffer}, {"offset", map->byte_offset}, {"element", map->element}, {"extents", map->extents},
                             {"strides", map->strides}, {"box", map->box}, {"swizzle", map->swizzle}});
        continue;
      }
      const auto& scalar = std::get<kernel::ScalarArgument>(argument);
      std::string bytes;
      for (std::size_t i = 0; i < scalar.size; ++i) bytes += fmt::format("{:02x}", std::to_integer<int>(scalar.bytes[i]));
      arguments.push_back({{"bytes", bytes}});
    }
    steps.push_back({{"kernel", launch.kernel}, {"grid", launch.grid}, {"block", launch.block},
                     {"shared", launch.shared_bytes}, {"arguments", arguments}});
  }
  return steps;
}

// An H200, as far as kernels are written for it.
outcome::DeviceFacts measured_on() {
  outcome::DeviceFacts facts;
  facts.major = 9;
  return facts;
}

// A kernel file that answers a task.
struct Answer {
  std::string id, source;
  double expected_ms = 0;
};

void print(const task::Task& task, const std::vector<Answer>& answers) {
  std::set<std::string> seen;
  for (const Answer& answer : answers) {
    const auto file = kernel::bind(task.file, kernel::parse(answer.source, "answer.cu").value()).value();
    const std::vector<kernel::Environment> members = kernel::family(file).value();
    for (const kernel::Environment& member : members) {
      kernel::Environment environment = task.workloads[0].environment;
      environment.insert(member.begin(), member.end());
      const kernel::Plan plan = kernel::resolve(file, environment).value();
      json row{{"task", task.name()}, {"id", answer.id}, {"bytes", task.necessary_bytes(0)}, {"expected_ms", answer.expected_ms},
               {"source", kernel::tunable_prelude(member) + compile::with_own_headers(answer.source)}, {"steps", steps_of(plan)}};
      for (const auto& [name, value] : member) row["tunables"][name] = std::get<std::int64_t>(value);
      for (const kernel::PlanBuffer& buffer : plan.buffers)
        row["buffers"].push_back({{"name", buffer.name}, {"bytes", buffer.bytes}});
      json what = row["steps"];
      what.push_back(kernel::code(file));
      what.push_back(row["tunables"]);
      if (seen.insert(what.dump()).second) fmt::print("{}\n", row.dump());
    }
  }
}

std::vector<Answer> offered(const task::Task& task, outcome::Precision precision) {
  const playbook::Candidates candidates = playbook::candidates_for(task, precision, measured_on());
  if (candidates.list.empty()) fmt::print(stderr, "{}: {}\n", task.name(), candidates.refusal);
  std::vector<Answer> answers;
  for (const playbook::Candidate& candidate : candidates.list)
    answers.push_back({candidate.id, candidate.source, 1000 * playbook::expected_seconds(candidate, {})});
  return answers;
}

std::vector<Answer> replied(int count, char** paths) {
  std::vector<Answer> answers;
  for (int i = 0; i < count; ++i) {
    const std::filesystem::path path = paths[i];
    const auto answer = model::parse_answer(base::read_file(path));
    if (!answer) fmt::print(stderr, "{}: no kernel file\n", path.string());
    else answers.push_back({path.parent_path().filename() / path.stem(), answer->source});
  }
  return answers;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::string_view option = count > 1 ? arguments[1] : "";
    if (option == "--replies" && count > 2) return print(task::load(arguments[2]), replied(count - 3, arguments + 3)), 0;
    const auto precision = option == "--tf32" ? outcome::Precision::tf32 : option == "--half" ? outcome::Precision::half : outcome::Precision::fp32;
    for (int i = precision == outcome::Precision::fp32 ? 1 : 2; i < count; ++i) {
      const task::Task task = task::load(arguments[i]);
      print(task, offered(task, precision));
    }
  } catch (const std::exception& problem) {
    fmt::print(stderr, "candidates: {}\n", problem.what());
    return 1;
  }
}
