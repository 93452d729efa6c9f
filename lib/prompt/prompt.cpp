// SPDX-License-Identifier: Apache-2.0
#include "prompt/prompt.hpp"

#include "prompt/words.hpp"
#include "task/module.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::prompt {

namespace {

// What gives way, in this order, when a prompt is too long.
struct Fit {
  bool lessons = true, failure_source = true, analyses = true, counters = true, exemplars = true;
};

// Text for a hole that stands in a paragraph of its own: the template has the line's end.
std::string block(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string labels(const std::vector<task::Workload>& workloads) {
  std::vector<std::string> texts;
  for (const auto& workload : workloads) texts.push_back(workload.label());
  return texts.empty() ? "none declared" : fmt::format("{}", fmt::join(texts, "; "));
}

std::string device_text(const outcome::DeviceFacts& device) {
  std::string text = fmt::format("{}, compute capability {}.{}, {} SMs", device.name, device.major, device.minor, device.sm_count);
  if (device.clock_hz > 0) text += fmt::format(" at {:.2f} GHz", device.clock_hz / 1e9);
  text += ".\n";
  if (device.memory_bytes_per_second > 0)
    text += fmt::format("- Memory: {:.0f} GB/s{}; L2 {}\n", device.memory_bytes_per_second / 1e9,
                        device.memory_rate_measured ? ", measured by a copy" : "", bytes(static_cast<double>(device.l2_bytes)));
  std::vector<std::string> rates;
  const auto rate = [&](std::string_view what, double flops) {
    if (flops > 0) rates.push_back(fmt::format("{} {:.3g} TFLOP/s", what, flops / 1e12));
  };
  rate("float32", device.fp32_flops);
  rate("float64", device.fp64_flops);
  rate("float16 tensor cores", device.fp16_tensor_flops);
  rate("TF32 tensor cores", device.tf32_tensor_flops);
  if (!rates.empty()) text += fmt::format("- Arithmetic: {}\n", fmt::join(rates, ", "));
  text += fmt::format("- Per SM: {} registers, {} of shared memory (a block may ask for {}), {} threads, {} blocks",
                      device.registers_per_sm, bytes(static_cast<double>(device.shared_bytes_per_sm)),
                      bytes(static_cast<double>(device.shared_bytes_per_block_optin)), device.max_threads_per_sm,
                      device.max_blocks_per_sm);
  return text;
}

std::string times_text(const Setting& setting) {
  std::string text;
  for (const auto& time : setting.times) {
    text += fmt::format("- {}: the reference takes {}{}", time.workload, milliseconds(time.ms),
                        setting.predicted ? " (predicted)" : "");
    if (!time.limited_by.empty()) text += ", limited by " + time.limited_by;
    if (time.speed_of_light_ms > 0)
      text += fmt::format("; reading the inputs and writing the outputs once takes {} at the memory's rate, the speed of light",
                          milliseconds(time.speed_of_light_ms));
    text += '\n';
  }
  if (setting.predicted) text += "\nTimes come from a simulator's model of this GPU.\n";
  return text;
}

// PyTorch's times; the simulator has none.
std::string module_times_text(const Setting& setting) {
  if (setting.times.empty()) return "Nobody knows PyTorch's time on this GPU: the score of the first right answer is 1.00×, and later ones are compared with it.\n";
  std::string text = times_text(setting);
  for (const auto& baseline : setting.reference.baselines)
    if (baseline.failed.empty()) text += fmt::format("- PyTorch, {}: {}\n", baseline.name, milliseconds(baseline.ms));
  return text;
}

const char* precision_text(outcome::Precision precision) {
  switch (precision) {
    case outcome::Precision::fp32: break;
    case outcome::Precision::reference:
      return "Operands of float32 convolutions may be rounded to TF32 (round to nearest: `cvt.rna.tf32.f32`), as PyTorch's are\n"
             "  by its default flags. Matrix products, sums and everything else are held to the task's types. A float32 product on\n"
             "  tensor cores is exact enough as three products: split each operand into a high and a low part, each rounded to TF32,\n"
             "  and sum high·high + high·low + low·high. Tensor cores truncate what they add to an accumulator: start it again from 0\n"
             "  every 32 to 128 of k, and add it to a float32 sum in registers. Inputs may hold any float32, also single large ones\n"
             "  among small ones: halves overflow at 65504, so they need a power of two for each row from its largest magnitude, and\n"
             "  no fixed one.";
    case outcome::Precision::tf32:
      return "Operands of float32 products may be rounded to TF32 (round to nearest: `cvt.rna.tf32.f32`); sums and\n"
             "  everything else are held to the task's types.";
    case outcome::Precision::half:
      return "Operands of float32 products may be rounded to bfloat16 or float16; sums and everything else are held to the\n"
             "  task's types.";
  }
  return "Lower precision than the task's types is wrong, unless the result is as exact as the reference's.";
}

// What compute capability 9.0 has and no other: its own device functions, by their signatures.
std::string own_functions(const Templates& templates, const outcome::DeviceFacts& device) {
  return device.major == 9 && device.minor == 0 ? block(templates.fill("hopper.md", {})) : "";
}

std::string setting_text(const Templates& templates, const Setting& setting) {
  const auto& task = *setting.task;
  if (task::is_module(task))
    return templates.fill("module_setting.md", {{"task", task.name()},
                                                {"reference", block(fenced(task.file.source, "cuda"))},
                                                {"device", device_text(setting.device) + own_functions(templates, setting.device)},
                                                {"times", block(module_times_text(setting))}});
  std::string meaning;
  if (task.file.torch) meaning = fmt::format("In PyTorch: `{}`\n\n", task.file.torch->first);
  return templates.fill("setting.md", {{"task", task.name()},
                                       {"meaning", meaning},
                                       {"reference", block(fenced(task.file.source, "cuda"))},
                                       {"sizes", labels(task.workloads)},
                                       {"checks", labels(task.checks)},
                                       {"device", device_text(setting.device) + own_functions(templates, setting.device)},
                                       {"times", block(times_text(setting))}});
}

std::string exemplars_text(const Templates& templates, const Request& request, const Fit& fit) {
  std::string text;
  int number = 0;
  for (const auto& exemplar : request.exemplars) {
    if (!fit.exemplars && &exemplar != &request.exemplars.back()) continue;
    const auto& judgement = exemplar.judgement;
    const std::string source =
        exemplar.id == "reference" ? "It is the reference given above." : block(fenced(exemplar.source, "cuda"));
    std::string analysis;
    if (fit.analyses && !exemplar.analysis.empty())
      analysis = "What its author expected:\n\n" + fenced(exemplar.analysis, "text") + '\n';
    if (!request.scores) {
      text += templates.fill("unscored_exemplar.md", {{"number", std::to_string(++number)},
                                                      {"id", exemplar.id},
                                                      {"analysis", analysis},
                                                      {"source", source}});
      text += '\n';
      continue;
    }
    const auto facts = fit.counters ? describe_success(judgement, exemplar.source) : describe_facts(judgement);
    text += templates.fill("exemplar.md", {{"number", std::to_string(++number)},
                                           {"id", exemplar.id},
                                           {"score", fmt::format("{:.2f}×", judgement.score())},
                                           {"facts", block(facts)},
                                           {"analysis", analysis},
                                           {"source", source}});
    text += '\n';
  }
  return text;
}

std::string evidence_text(const Request& request) {
  if (!request.failure_format.empty()) return "- The reply could not be read: " + request.failure_format + '\n';
  return describe_failure(request.failure->judgement, request.failure->source);
}

std::string failure_text(const Templates& templates, const Request& request, const Fit& fit) {
  if (!request.failure) return {};
  const bool source = fit.failure_source && !request.failure->source.empty();
  auto text = templates.fill("failure.md", {{"id", request.failure->id},
                                            {"evidence", block(evidence_text(request))},
                                            {"source", source ? fenced(request.failure->source, "cuda") + '\n' : ""}});
  if (request.other_failures.empty()) return text;
  text += "Earlier ones failed otherwise:\n\n";
  for (const auto& line : request.other_failures) text += "- " + line + '\n';
  return text + '\n';
}

std::string repair_template(outcome::Verdict verdict) {
  switch (verdict) {
    case outcome::Verdict::wrong_result: return "repair_wrong.md";
    case outcome::Verdict::forbidden_code:
    case outcome::Verdict::stateful:
    case outcome::Verdict::tampered: return "repair_forbidden.md";
    case outcome::Verdict::runtime_failed:
    case outcome::Verdict::timeout:
    case outcome::Verdict::sanitizer_failed: return "repair_run.md";
    default: return "repair_compile.md";
  }
}

std::string repair_text(const Templates& templates, const std::string& setting, const Request& request) {
  if (!request.failure_format.empty())
    return templates.fill("repair_format.md", {{"setting", setting},
                                               {"problem", request.failure_format},
                                               {"reply", block(fenced(request.failure_reply, "text"))}});
  return templates.fill(repair_template(request.failure->judgement.verdict),
                        {{"setting", setting},
                         {"evidence", block(evidence_text(request))},
                         {"source", block(fenced(request.failure->source, "cuda"))}});
}

std::string ablation_text(const Templates& templates, const std::string& setting, const Request& request) {
  const auto& winner = request.exemplars.front();
  return templates.fill("ablation.md", {{"setting", setting},
                                        {"id", winner.id},
                                        {"score", fmt::format("{:.2f}×", winner.judgement.score())},
                                        {"facts", block(describe_facts(winner.judgement))},
                                        {"source", block(fenced(winner.source, "cuda"))},
                                        {"undone", fmt::format("{}", fmt::join(request.undo, "** and **"))}});
}

std::string memory_text(const std::vector<std::string>& memory) {
  std::string text;
  for (const auto& line : memory) text += "- " + line + '\n';
  return text.empty() ? "" : fmt::format("# What earlier runs on tasks of this kind came to, on this GPU\n\n{}\n", text);
}

std::string user_text(const Templates& templates, const Setting& setting, const Request& request, const Fit& fit) {
  const std::string common = block(setting_text(templates, setting));
  if (!request.undo.empty()) return ablation_text(templates, common, request);
  if (request.key.attempt > 0 && request.failure) return repair_text(templates, common, request);
  Values values = {{"setting", common}, {"failure", failure_text(templates, request, fit)}};
  values["hint"] = setting.hint.empty() ? "" : fmt::format("# A hint from the user\n\n{}\n\n", setting.hint);
  values["hint"] += memory_text(request.memory);
  values["technique"] =
      request.technique.empty()
          ? ""
          : fmt::format("\nOther answers are being written beside yours. Let yours start from: {}, unless the figures rule "
                        "that out.\n",
                        request.technique);
  if (request.exemplars.empty() && task::is_module(*setting.task)) return templates.fill("module_first_round.md", values);
  if (request.exemplars.empty()) {
    values["reference_facts"] = block(describe_success(setting.reference, setting.task->file.source));
    return templates.fill("first_round.md", values);
  }
  values["exemplars"] = exemplars_text(templates, request, fit);
  if (!request.scores) return templates.fill("unscored_round.md", values);
  values["lessons"] = "";
  if (fit.lessons && !request.lessons.empty()) {
    std::string list;
    for (const auto& lesson : request.lessons) list += "- " + lesson + '\n';
    values["lessons"] = fmt::format("# What has been tried\n\n{}\n", list);
  }
  return templates.fill("contrast_round.md", values);
}

}  // namespace

Rendered render(const Templates& templates, const Setting& setting, const Request& request, std::size_t limit) {
  Rendered rendered;
  rendered.system = templates.fill("system.md", {{"kernel_file_card", templates.fill("kernel_file_card.md", {})},
                                                 {"precision", precision_text(setting.precision)}});

  Fit fit;
  const bool repair = request.key.attempt > 0;  // or an ablation: short, and every part is needed
  bool failure_source = request.failure && !request.failure->source.empty();
  bool analyses = false;
  for (const auto& exemplar : request.exemplars) analyses = analyses || !exemplar.analysis.empty();
  struct Cut {
    bool Fit::*part;
    bool present;
    const char* said;
  };
  const Cut cuts[] = {{&Fit::lessons, !repair && !request.lessons.empty(), "The list of what has been tried is left out."},
                      {&Fit::failure_source, !repair && failure_source, "The source of the answer that failed is left out."},
                      {&Fit::analyses, !repair && analyses, "The authors' analyses are left out."},
                      {&Fit::counters, !repair && !request.exemplars.empty(), "Counters and hot lines are left out."},
                      {&Fit::exemplars, !repair && request.exemplars.size() > 1, "Only the fastest variant is shown."}};
  rendered.user = user_text(templates, setting, request, fit);
  for (const auto& cut : cuts) {
    if (rendered.system.size() + rendered.user.size() <= limit) break;
    if (!cut.present) continue;
    fit.*cut.part = false;
    rendered.cut.emplace_back(cut.said);
    rendered.user = user_text(templates, setting, request, fit);
  }
  if (!rendered.cut.empty()) rendered.user += fmt::format("\nTo fit your context: {}\n", fmt::join(rendered.cut, " "));
  return rendered;
}

}  // namespace cudal1::prompt
