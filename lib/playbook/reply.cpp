// SPDX-License-Identifier: Apache-2.0
#include "playbook/reply.hpp"

#include "playbook/choice.hpp"

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

std::string amount(double bytes) {
  return bytes >= 1048576 ? fmt::format("{:.1f} MiB", bytes / 1048576) : fmt::format("{:.1f} KiB", bytes / 1024);
}

std::string describe(const model::Exemplar& exemplar, double rate) {
  const outcome::Judgement& judgement = exemplar.judgement;
  std::string text = fmt::format("- `{}`: {}", exemplar.id, outcome::name(judgement.verdict, judgement.predicted));
  if (judgement.speedup)
    text += fmt::format(", {:.2f}x the reference [{:.2f}, {:.2f}]", judgement.speedup->value, judgement.speedup->low,
                        judgement.speedup->high);
  if (!judgement.workloads.empty()) {
    const outcome::WorkloadTiming& first = judgement.workloads.front();
    text += fmt::format(", {:.4g} ms against {:.4g} ms", first.variant_ms, first.reference_ms);
    if (first.share_of_limit > 0) text += fmt::format(", {:.0f} % of the speed of light", 100 * first.share_of_limit);
    if (!first.limited_by.empty()) text += fmt::format(", limited by {}", first.limited_by);
    const double moved = judgement.counters.dram_read_bytes + judgement.counters.dram_write_bytes;
    if (moved > 0 && first.variant_ms > 0 && rate > 0)
      text += fmt::format("; it moves {} through memory, {:.0f} % of the bandwidth", amount(moved),
                          100 * moved / (first.variant_ms / 1000) / rate);
  }
  text += ".";
  const double sectors = judgement.counters.sectors_per_request();
  if (sectors > 4.5 && judgement.counters.global_load_requests > 0)
    text +=
        fmt::format(" A warp access touches {:.1f} sectors where 4 would do for 4-byte elements in a row.", sectors);
  if (judgement.counters.shared_requests > 0 &&
      judgement.counters.shared_wavefronts > 1.2 * judgement.counters.shared_requests)
    text += fmt::format(" Shared memory takes {:.1f} wavefronts per request: bank conflicts.",
                        judgement.counters.shared_wavefronts / judgement.counters.shared_requests);
  if (judgement.occupancy > 0)
    text += fmt::format(" Occupancy {:.0f} %{}.", 100 * judgement.occupancy,
                        judgement.occupancy_limited_by.empty() ? "" : ", limited by " + judgement.occupancy_limited_by);
  for (const auto& facts : judgement.resources)
    if (facts.spill_store_bytes + facts.spill_load_bytes > 0)
      text += fmt::format(" `{}` spills {} bytes per thread.", facts.kernel, facts.spill_store_bytes);
  return text + "\n";
}

std::string analysis(const task::Task& task, const Candidate& candidate, const model::Question& question) {
  const double rate = question.device.memory_bytes_per_second;
  std::string text;
  if (question.key.attempt > 0 && question.failure)
    text += fmt::format(
        "The last answer failed: {}. This one says the same in its plainest form: no wide accesses, no split lines, "
        "one geometry.\n\n",
        question.failure->judgement.message.empty() ? outcome::name(question.failure->judgement.verdict)
                                                    : question.failure->judgement.message);
  if (!question.exemplars.empty()) {
    text += "What was measured:\n\n";
    for (const model::Exemplar& exemplar : question.exemplars) text += describe(exemplar, rate);
    if (question.exemplars.size() > 1) {
      const model::Exemplar &slow = question.exemplars.front(), &fast = question.exemplars.back();
      if (fast.judgement.score() > 0 && slow.judgement.score() > 0)
        text += fmt::format("\n`{}` beats `{}` by {:.2f}x.", fast.id, slow.id,
                            fast.judgement.score() / slow.judgement.score());
      const std::string a = candidate_id(slow.source), b = candidate_id(fast.source);
      if (!a.empty() && !b.empty()) text += fmt::format(" They differ in their plan: {} against {}.", a, b);
      text += "\n";
    }
    text += "\n";
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
  if (candidate.bytes > 0) {
    text += fmt::format(" This plan moves {} in {} launch{} and computes {:.3g} operations in products",
                        amount(candidate.bytes), candidate.kernels, candidate.kernels == 1 ? "" : "es",
                        candidate.operations);
    if (rate > 0)
      text += fmt::format(": about {:.4g} ms expected", 1000 * expected_seconds(candidate, question.device));
    text += ".";
  }
  const bool arithmetic = rate > 0 && question.device.fp32_flops > 0 &&
                          candidate.operations / question.device.fp32_flops > candidate.bytes / rate;
  text += arithmetic ? " It is bound by arithmetic." : " It is bound by memory.";
  return text + "\n";
}

}  // namespace

std::string write_reply(const task::Task& task, const Candidate& candidate, const model::Question& question) {
  std::string text =
      "## Performance Analysis\n\n" + analysis(task, candidate, question) + "\n## Algorithm Design\n\nTechniques: ";
  for (std::size_t i = 0; i < candidate.techniques.size(); ++i)
    text += (i > 0 ? ", " : "") + candidate.techniques[i].name;
  text += "\n\n";
  int step = 1;
  for (const auto& technique : candidate.techniques)
    text += fmt::format("{}. {}: {}\n", step++, technique.name, technique.sentence);
  text += "\n## Code Implementation\n\n```cuda\n" + candidate.source;
  if (text.back() != '\n') text += '\n';
  return text + "```\n";
}

}  // namespace cudal1::playbook
