// SPDX-License-Identifier: Apache-2.0
#include "playbook/candidate.hpp"

#include "playbook/compose.hpp"
#include "playbook/lower.hpp"
#include "playbook/rule.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

std::vector<Style> styles() {
  std::vector<Style> result;
  const auto add = [&](const char* name, auto change) {
    Style style;
    style.name = name;
    change(style);
    result.push_back(style);
  };
  add("fused", [](Style&) {});
  add("tensor cores", [](Style& s) { s.tensor = true; });
  add("teams", [](Style& s) { s.team = true; });
  add("streamed", [](Style& s) { s.stream = true; });
  add("wide", [](Style& s) { s.wide = true; });
  add("reread", [](Style& s) { s.cache = false; });
  add("streamed teams", [](Style& s) { s.team = s.stream = true; });
  add("wide streamed", [](Style& s) { s.wide = s.stream = true; });
  add("unsplit", [](Style& s) { s.split = false; });
  add("three steps", [](Style& s) { s.attention = false; });
  add("direct", [](Style& s) { s.tiles = false; });
  add("plain", [](Style& s) { s.vector = s.split = s.tune = false; });
  add("unfused", [](Style& s) { s.fuse = s.attention = false; });
  return result;
}

Names names_of(const task::Task& task) {
  Names names;
  for (const auto& buffer : task.file.buffers) names.all.insert(buffer.name);
  for (const auto& line : task.file.sizes)
    for (const auto& [name, value] : line.values) names.all.insert(name);
  for (const auto& scalar : task.file.scalars) {
    names.all.insert(scalar.name);
    names.scalars[scalar.name] = scalar.dtype;
  }
  return names;
}

}  // namespace

double expected_seconds(const Candidate& candidate, const outcome::DeviceFacts& device) {
  const double rate = device.memory_bytes_per_second > 0 ? device.memory_bytes_per_second : 3e12;
  const double flops = device.fp32_flops > 0 ? device.fp32_flops : 5e13;
  return std::max(candidate.slowed_bytes / rate, candidate.operations / (0.7 * flops)) + 2e-6 * candidate.kernels;
}

Candidates candidates_for(const task::Task& task) {
  Candidates result;
  if (!task.torch && task::is_module(task)) {
    result.refusal = task.no_oracle_reason;
    return result;
  }
  if (!task.torch) {
    result.list = own_kernel_candidates(task);
    result.refusal =
        "without a torch line the playbook only knows the kernel itself, and finds nothing in it that its rules change";
    return result;
  }
  const auto types = tensor::infer(*task.torch, task.input_types(), task.assignments());
  if (!types) {
    result.refusal = types.error().message;
    return result;
  }
  const Names names = names_of(task);
  std::set<std::string> seen;
  const std::string of = fmt::format("{} sha256:{}", task.path.filename().string(), task.digest);
  for (const Style& style : styles()) {
    LowerOptions options;
    options.attention = style.attention;
    const auto lowered = lower(*task.torch, *types, options);
    if (!lowered) {
      result.refusal = lowered.error();
      continue;
    }
    for (const bool algebra : {true, false}) {
      Dag dag = *lowered;
      std::string applied;
      std::vector<KernelFile::Technique> techniques;
      if (algebra)
        for (const Rule& rule : rules())
          if (rule.apply(dag)) {
            applied += (applied.empty() ? "" : "+") + std::string(rule.name);
            techniques.push_back({"algebra", fmt::format("{} ({}).", rule.identity, rule.name)});
          }
      if (!algebra && style.name != "fused" && style.name != "unfused") continue;
      const auto file = compose(std::move(dag), style, names, task.workloads.size());
      if (!file) {
        if (result.refusal.empty() || algebra) result.refusal = file.error();
        continue;
      }
      Candidate candidate;
      candidate.id = fmt::format("{}/{}", applied.empty() ? "as written" : applied, style.name);
      if (!seen.insert(file->members()).second) continue;
      candidate.source = file->text(of, candidate.id);
      for (const auto& technique : file->techniques())
        if (techniques.empty() || technique.name != "algebra") techniques.push_back(technique);
      candidate.techniques = std::move(techniques);
      candidate.bytes = file->bytes();
      candidate.slowed_bytes = file->slowed_bytes();
      candidate.operations = file->operations();
      candidate.kernels = file->kernels();
      candidate.simple = style.name == "plain";
      result.list.push_back(std::move(candidate));
    }
  }
  // By expected time in steps of 5 %; within a step in the order of the styles.
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < result.list.size(); ++i)
    order.emplace_back(std::floor(std::log(expected_seconds(result.list[i], {})) / 0.05), i);
  std::sort(order.begin(), order.end());
  std::vector<Candidate> sorted;
  for (const auto& [step, i] : order) sorted.push_back(std::move(result.list[i]));
  result.list = std::move(sorted);
  return result;
}

}  // namespace cudal1::playbook
