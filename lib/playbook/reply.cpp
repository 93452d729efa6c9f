// SPDX-License-Identifier: Apache-2.0
#include "playbook/reply.hpp"

#include "playbook/choice.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::playbook {
namespace {

std::string amount(double bytes) {
  return bytes >= 1048576 ? fmt::format("{:.1f} MiB", bytes / 1048576) : fmt::format("{:.1f} KiB", bytes / 1024);
}

const Candidate* find(const std::vector<Candidate>& candidates, const model::Exemplar& exemplar) {
  const std::string id = candidate_id(exemplar.source);
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& each) { return each.id == id; });
  return found == candidates.end() ? nullptr : &*found;
}

double milliseconds(const model::Exemplar& exemplar) {
  return exemplar.judgement.workloads.empty() ? 0 : exemplar.judgement.workloads.front().variant_ms;
}

std::string describe(const model::Exemplar& exemplar, double rate) {
  const outcome::Judgement& judgement = exemplar.judgement;
  std::string text = fmt::format("- `{}`: {}", exemplar.id, outcome::name(judgement.verdict, judgement.predicted));
  if (judgement.speedup)
    text += fmt::format(", {:.2f}x the reference [{:.2f}, {:.2f}]", judgement.speedup->value, judgement.speedup->low,
                        judgement.speedup->high);
  const outcome::Counters& counters = judgement.counters;
  if (!judgement.workloads.empty()) {
    const outcome::WorkloadTiming& first = judgement.workloads.front();
    text += fmt::format(", {:.4g} ms against {:.4g} ms", first.variant_ms, first.reference_ms);
    if (first.share_of_limit > 0) text += fmt::format(", {:.0f} % of the speed of light", 100 * first.share_of_limit);
    if (!first.limited_by.empty()) text += fmt::format(", limited by {}", first.limited_by);
    const double moved = counters.dram_read_bytes + counters.dram_write_bytes;
    if (moved > 0 && first.variant_ms > 0 && rate > 0)
      text += fmt::format("; it moves {} through memory, {:.0f} % of the bandwidth", amount(moved),
                          100 * moved / (first.variant_ms / 1000) / rate);
  }
  text += ".";
  // Of each 32-byte sector that a warp touches some may be asked for by no lane.
  const double asked = counters.global_load_bytes + counters.global_store_bytes,
               touched = 32 * (counters.global_load_sectors + counters.global_store_sectors);
  if (asked > 0 && touched > 1.2 * asked)
    text += fmt::format(" Its accesses touch {:.1f} times the bytes that its threads ask for: they are not coalesced.",
                        touched / asked);
  if (counters.shared_requests > 0 && counters.shared_wavefronts > 1.2 * counters.shared_requests)
    text += fmt::format(" Shared memory takes {:.1f} wavefronts per request.",
                        counters.shared_wavefronts / counters.shared_requests);
  if (judgement.occupancy > 0)
    text += fmt::format(" Occupancy {:.0f} %{}.", 100 * judgement.occupancy,
                        judgement.occupancy_limited_by.empty() ? "" : ", limited by " + judgement.occupancy_limited_by);
  for (const auto& facts : judgement.resources)
    if (facts.spill_store_bytes + facts.spill_load_bytes > 0)
      text += fmt::format(" `{}` spills {} bytes per thread.", facts.kernel, facts.spill_store_bytes);
  return text + "\n";
}

// Techniques that `one` has and `other` lacks.
std::string apart(const Candidate& one, const Candidate& other) {
  std::vector<std::string> names;
  for (const auto& technique : one.techniques)
    if (!other.has(technique.name())) names.push_back(technique.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

// Why the faster of two exemplars is the faster one, as far as their figures and plans tell.
std::string compare(const model::Exemplar& slow, const model::Exemplar& fast, const std::vector<Candidate>& candidates) {
  const double ratio = fast.judgement.score() / slow.judgement.score();
  const Candidate *before = find(candidates, slow), *after = find(candidates, fast);
  std::string differ;
  if (before != nullptr && after != nullptr) {
    const std::string gained = apart(*after, *before), lost = apart(*before, *after);
    if (!gained.empty()) differ = fmt::format("`{}` adds {}", fast.id, gained);
    if (!lost.empty()) differ += fmt::format("{}`{}` has {} besides", differ.empty() ? "" : ", ", slow.id, lost);
    if (differ.empty()) differ = fmt::format("the same techniques in another geometry (`{}` against `{}`)", after->id, before->id);
  }
  if (ratio < 1.02)
    return fmt::format("`{}` and `{}` are equally fast{}.\n", fast.id, slow.id,
                       differ.empty() ? "" : ", so what sets them apart decides nothing here: " + differ);
  std::string text = fmt::format("`{}` is {:.2f}x as fast as `{}`", fast.id, ratio, slow.id);
  if (!differ.empty()) text += ": " + differ;
  const auto moved = [](const model::Exemplar& each) {
    return each.judgement.counters.dram_read_bytes + each.judgement.counters.dram_write_bytes;
  };
  if (moved(fast) > 0 && moved(slow) > 1.1 * moved(fast))
    text += fmt::format(". It moves {} where the other moves {}", amount(moved(fast)), amount(moved(slow)));
  else if (before != nullptr && after != nullptr && before->kernels > after->kernels)
    text += fmt::format(". It has {} launch{} where the other has {}", after->kernels, after->kernels == 1 ? "" : "es", before->kernels);
  return text + ".\n";
}

const model::Exemplar* fastest_of(const model::Question& question) {
  const model::Exemplar* best = nullptr;
  for (const auto* list : {&question.exemplars, &question.earlier})
    for (const model::Exemplar& each : *list)
      if (each.id != "reference" && each.judgement.score() > 0 && milliseconds(each) > 0 &&
          (best == nullptr || each.judgement.score() > best->judgement.score()))
        best = &each;
  return best;
}

std::string analysis(const task::Task& task, const Candidate& candidate, const model::Question& question,
                     const std::vector<Candidate>& candidates) {
  const double rate = question.device.memory_bytes_per_second;
  std::string text;
  if (question.key.attempt > 0 && question.failure)
    text += fmt::format(
        "The last answer failed: {}. This one says the same in its plainest form: no wide accesses, no split lines, "
        "one geometry.\n\n",
        question.failure->judgement.message.empty() ? outcome::name(question.failure->judgement.verdict)
                                                    : question.failure->judgement.message);
  if (!question.exemplars.empty()) {
    text += question.exemplars.front().judgement.predicted ? "What was predicted:\n\n" : "What was measured:\n\n";
    for (const model::Exemplar& exemplar : question.exemplars) text += describe(exemplar, rate);
    text += "\n";
    const model::Exemplar &slow = question.exemplars.front(), &fast = question.exemplars.back();
    if (slow.id != fast.id && fast.judgement.score() > 0 && slow.judgement.score() > 0)
      text += compare(slow, fast, candidates) + "\n";
  }
  const double necessary = task.necessary_bytes(0), written = task.written_operations(0);
  text += fmt::format("Inputs and outputs are {} at {}.", amount(necessary), task.workloads.front().label());
  if (rate > 0)
    text += fmt::format(" {} moves them in no less than {:.4g} ms at {:.3g} TB/s{}.",
                        question.device.name.empty() ? "The device" : question.device.name, 1000 * necessary / rate,
                        rate / 1e12, question.device.memory_rate_measured ? " (measured)" : "");
  if (written > 0)
    text +=
        fmt::format(" As written, the line asks for {:.3g} operations, {:.3g} per byte.", written, written / necessary);
  const model::Exemplar* best = fastest_of(question);
  if (best != nullptr) {
    const outcome::WorkloadTiming& first = best->judgement.workloads.front();
    text += fmt::format(" The fastest so far, `{}`, takes {:.4g} ms", best->id, first.variant_ms);
    if (first.share_of_limit > 0)
      text += fmt::format(": at most {:.2f}x is left to the speed of light", 1 / std::min(1.0, first.share_of_limit));
    text += ".";
  }
  const double expected = candidate.total.moved > 0 && rate > 0 ? 1000 * expected_seconds(candidate, question.device) : 0;
  if (candidate.total.moved > 0) {
    text += fmt::format("\n\nThis plan moves {} in {} launch{}", amount(candidate.total.moved), candidate.kernels,
                        candidate.kernels == 1 ? "" : "es");
    if (candidate.total.operations > 0) text += fmt::format(" and computes {:.3g} operations in products", candidate.total.operations);
    if (expected > 0) text += fmt::format(": about {:.4g} ms expected", expected);
    text += ".";
    if (const Candidate* known = best == nullptr ? nullptr : find(candidates, *best); known != nullptr && expected > 0) {
      const double foreseen = 1000 * expected_seconds(*known, question.device), took = milliseconds(*best);
      text += fmt::format(" `{}` takes {:.2f} times the {:.4g} ms expected of it; by that measure this plan takes {:.4g} ms", best->id,
                          took / foreseen, foreseen, took / foreseen * expected);
      text += expected > 1.05 * foreseen   ? ", more than the fastest, and is tried because a figure says more than an estimate."
              : expected < 0.95 * foreseen ? ", less than the fastest."
                                           : ", as the fastest does, and only trying tells them apart.";
    }
  }
  std::vector<std::string> unused;
  if (!question.earlier.empty()) {
    for (const auto& technique : candidate.techniques)
      if (std::none_of(question.earlier.begin(), question.earlier.end(), [&](const model::Exemplar& each) {
            const Candidate* tried = find(candidates, each);
            return tried != nullptr && tried->has(technique.name());
          }))
        unused.push_back(technique.name());
    if (!unused.empty()) text += fmt::format(" Nobody has used {} here yet.", fmt::join(unused, ", "));
  }
  const bool arithmetic = rate > 0 && question.device.fp32_flops > 0 &&
                          candidate.total.operations / question.device.fp32_flops > candidate.total.moved / rate;
  const std::string bottleneck = best != nullptr && !best->judgement.workloads.front().limited_by.empty()
                                     ? best->judgement.workloads.front().limited_by
                                 : arithmetic ? "arithmetic"
                                              : "memory bandwidth";
  std::vector<std::string> names;
  for (const auto& technique : candidate.techniques)
    if (names.size() < 4) names.push_back(technique.name());
  const std::string launches = candidate.kernels == 0 ? "the task's own launches" : fmt::format("{} launch{}", candidate.kernels, candidate.kernels == 1 ? "" : "es");
  text += fmt::format("\n\nBottleneck: {}. Method: {}. Plan: {}{}.", bottleneck, fmt::join(names, ", "), launches,
                      expected > 0 ? fmt::format(", {:.3g} ms", expected) : "");
  return text + "\n";
}

}  // namespace

std::string write_reply(const task::Task& task, const Candidate& candidate, const model::Question& question,
                        const std::vector<Candidate>& candidates) {
  std::string text =
      "## Performance Analysis\n\n" + analysis(task, candidate, question, candidates) + "\n## Algorithm Design\n\n";
  std::vector<std::string> names;
  for (const auto& technique : candidate.techniques) {
    names.push_back(technique.name());
    text += fmt::format("{}. {}: {}\n", names.size(), technique.name(), technique.sentence);
  }
  text += fmt::format("\nTechniques: {}\n", fmt::join(names, ", "));
  text += "\n## Code Implementation\n\n```cuda\n" + candidate.source;
  if (text.back() != '\n') text += '\n';
  return text + "```\n";
}

}  // namespace cudal1::playbook
