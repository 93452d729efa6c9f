// SPDX-License-Identifier: Apache-2.0
#include "judge/candidate.hpp"

#include "base/digest.hpp"
#include "task/neighbours.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

Rejected reject(Verdict verdict, base::Diagnostics diagnostics, std::string message = "") {
  Rejected judgement;
  judgement.verdict = verdict;
  judgement.message = !message.empty()       ? std::move(message)
                      : diagnostics.empty() ? ""
                                            : diagnostics.front().message;
  judgement.diagnostics = std::move(diagnostics);
  return judgement;
}

Verdict verdict_of(compile::Rejection::Kind kind) {
  switch (kind) {
    case compile::Rejection::Kind::forbidden_code: return Verdict::forbidden_code;
    case compile::Rejection::Kind::stateful: return Verdict::stateful;
    case compile::Rejection::Kind::compile_failed:
    case compile::Rejection::Kind::time_limit:
    case compile::Rejection::Kind::memory_limit: return Verdict::compile_failed;
  }
  return Verdict::compile_failed;
}

}  // namespace

tl::expected<Candidate, Rejected> candidate_of(kernel::File bound) {
  auto family = kernel::family(bound);
  if (!family) return tl::unexpected(reject(Verdict::invalid_plan, {family.error()}));
  return Candidate{std::move(bound), *std::move(family)};
}

tl::expected<Candidate, Rejected> read_candidate(const task::Task& task, const std::string& source,
                                                 const std::string& name) {
  auto parsed = kernel::parse(source, name);
  if (!parsed) return tl::unexpected(reject(Verdict::invalid_plan, std::move(parsed.error())));
  auto bound = kernel::bind(task.file, *parsed);
  if (!bound) return tl::unexpected(reject(Verdict::invalid_plan, std::move(bound.error())));
  return candidate_of(*std::move(bound));
}

tl::expected<Executable, Rejected> build(const task::Task& task, const Candidate& candidate,
                                         const kernel::Environment& tunables, compile::Compiler& compiler,
                                         const std::string& arch) {
  Executable executable;
  std::set<std::string> kernels;
  for (auto [workloads, plans] : {std::pair{&task.checks, &executable.checks},
                                  std::pair{&task.workloads, &executable.workloads}}) {
    for (const task::Workload& workload : *workloads) {
      kernel::Environment environment = workload.environment;
      environment.insert(tunables.begin(), tunables.end());
      auto plan = kernel::resolve(candidate.file, environment);
      if (!plan) {
        const std::string message = fmt::format("{} (at {})", plan.error().message, workload.label());
        return tl::unexpected(reject(Verdict::invalid_plan, {plan.error()}, message));
      }
      for (std::string& kernel : plan->kernels()) kernels.insert(std::move(kernel));
      plans->push_back(*std::move(plan));
    }
  }
  // A size that nobody declared must not cost a compilation of its own, and must not fail one.
  for (const task::Workload& workload : task::neighbours(task)) {
    kernel::Environment environment = workload.environment;
    environment.insert(tunables.begin(), tunables.end());
    const auto plan = kernel::resolve(candidate.file, environment);
    const bool usable = plan && std::all_of(plan->steps.begin(), plan->steps.end(), [&](const kernel::PlanStep& step) {
      const auto* launch = std::get_if<kernel::Launch>(&step);
      return launch == nullptr || kernels.contains(launch->kernel);
    });
    executable.neighbours.push_back(usable ? *plan : kernel::Plan{});
  }
  compile::Request request;
  request.source = candidate.file.source;
  request.name = candidate.file.name;
  request.prelude = kernel::tunable_prelude(tunables);
  request.kernels.assign(kernels.begin(), kernels.end());
  request.arch = arch;
  request.options = task.file.options;
  for (const std::string& folder : task.file.includes) request.include_folders.push_back(task.folder() / folder);
  auto compiled = compiler.compile(request);
  if (!compiled) {
    compile::Rejection& rejection = compiled.error();
    return tl::unexpected(
        reject(verdict_of(rejection.kind), std::move(rejection.diagnostics), std::move(rejection.message)));
  }
  executable.binary = std::move(compiled->binary);
  return executable;
}

Rejected rejected(verify::Evidence evidence) {
  Rejected judgement;
  judgement.verdict = *evidence.fault;
  judgement.message = std::move(evidence.message);
  judgement.findings = std::move(evidence.findings);
  judgement.first_wrong = std::move(evidence.first_wrong);
  judgement.worst_wrong = std::move(evidence.worst_wrong);
  judgement.errors = evidence.errors;
  return judgement;
}

outcome::Judgement with_fault(outcome::Judgement judgement, const Rejected& fault) {
  judgement.verdict = fault.verdict;
  judgement.message = fault.message;
  judgement.diagnostics = fault.diagnostics;
  judgement.findings = fault.findings;
  judgement.first_wrong = fault.first_wrong;
  judgement.worst_wrong = fault.worst_wrong;
  judgement.errors = fault.errors;
  judgement.speedup.reset();
  return judgement;
}

std::string candidate_key(const std::string& source, const kernel::Environment& tunables) {
  return base::sha256(source) + kernel::tunable_prelude(tunables);
}

std::map<std::string, std::int64_t> integers(const kernel::Environment& tunables) {
  std::map<std::string, std::int64_t> result;
  for (const auto& [name, value] : tunables)
    if (const auto* integer = std::get_if<std::int64_t>(&value)) result[name] = *integer;
  return result;
}

std::vector<std::size_t> spread(std::size_t members, std::size_t count) {
  std::vector<std::size_t> result;
  if (members <= count) {
    for (std::size_t i = 0; i < members; ++i) result.push_back(i);
  } else if (count == 1) {
    result.push_back(members / 2);
  } else {
    for (std::size_t i = 0; i < count; ++i) result.push_back(i * (members - 1) / (count - 1));
  }
  return result;
}

std::vector<std::size_t> neighbours(const std::vector<kernel::Environment>& family, std::size_t best) {
  const auto centre = integers(family[best]);
  std::vector<std::size_t> result;
  for (const auto& [name, value] : centre) {
    std::optional<std::pair<std::int64_t, std::size_t>> below;
    std::optional<std::pair<std::int64_t, std::size_t>> above;
    for (std::size_t i = 0; i < family.size(); ++i) {
      auto other = integers(family[i]);
      const std::int64_t there = std::exchange(other[name], value);
      if (other != centre || there == value) continue;
      if (there < value && (!below || there > below->first)) below = {there, i};
      if (there > value && (!above || there < above->first)) above = {there, i};
    }
    for (const auto& side : {below, above})
      if (side) result.push_back(side->second);
  }
  return result;
}

}  // namespace cudal1::judge
