// SPDX-License-Identifier: Apache-2.0
#include "judge/code_digest.hpp"
#include "judge/state.hpp"
#include "outcome/speedup_text.hpp"
#include "task/module.hpp"

#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

// The launch with the most threads stands for the plan: nothing counts or times the launches of a plan one by one.
const kernel::Launch* largest_launch(const kernel::Plan& plan) {
  const kernel::Launch* largest = nullptr;
  double most = -1;
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<kernel::Launch>(&step);
    if (launch == nullptr) continue;
    double threads = 1;
    for (const auto& extent : {launch->grid, launch->block})
      for (const std::uint32_t part : extent) threads *= part;
    if (threads > most) most = threads, largest = launch;
  }
  return largest;
}

const outcome::TaskFinding* unsound_finding(const ReferenceFacts& reference) {
  for (const outcome::TaskFinding& finding : reference.findings)
    if (outcome::unsound(finding.verdict)) return &finding;
  return nullptr;
}

}  // namespace

outcome::Judgement Judge::State::describe(const Executable& executable, const kernel::Environment& tunables) const {
  outcome::Judgement judgement;
  judgement.tunables = integers(tunables);
  judgement.resources = executable.binary.resources;
  judgement.code = code_digest(executable);
  if (executable.workloads.empty()) return judgement;
  const kernel::Launch* launch = largest_launch(executable.workloads.front());
  if (launch == nullptr) return judgement;
  for (const outcome::ResourceFacts& resources : judgement.resources) {
    if (resources.kernel != launch->kernel) continue;
    const auto threads = static_cast<int>(launch->block[0] * launch->block[1] * launch->block[2]);
    const outcome::Occupancy occupancy =
        outcome::occupancy(facts, resources.registers, resources.shared_bytes + launch->shared_bytes, threads);
    judgement.occupancy = occupancy.fraction;
    judgement.occupancy_limited_by = occupancy.limited_by;
    if (judgement.resources.size() > 1) judgement.occupancy_limited_by += ", in " + launch->kernel;
  }
  return judgement;
}

void Judge::State::finish(outcome::Judgement& judgement, outcome::Level level, base::Seconds began) {
  judgement.level = level;
  judgement.seconds = (base::now() - began).count() - waited;
  judgement.step_seconds = std::exchange(steps, {});
  if (waited > 0) judgement.step_seconds["wait"] = std::exchange(waited, 0);
  judgement.predicted = facts.simulated && outcome::is_right(judgement.verdict);
  if (reference_facts && !reference_facts->oracle) judgement.labels.insert(reference_facts->shadow ? outcome::Label::shadow_oracle : outcome::Label::no_oracle);
  const auto* unsound = reference_facts ? unsound_finding(*reference_facts) : nullptr;
  if (unsound != nullptr && outcome::is_right(judgement.verdict)) {
    if (judgement.verdict == Verdict::faster) judgement.verdict = Verdict::inconclusive;
    judgement.message = fmt::format("{}: {}; no speed-up is earned", outcome::name(unsound->verdict), unsound->reason);
  }
  if (!judgement.speedup || !judgement.message.empty()) return;
  const bool unbeaten = task::is_module(task) && facts.simulated;   // PyTorch has no predicted time
  judgement.message = fmt::format("{} over {}{}", outcome::text(*judgement.speedup),
                                  against ? options.against_name : unbeaten ? "the first right variant" : "the reference",
                                  judgement.predicted ? ", predicted" : "");
}

}  // namespace cudal1::judge
