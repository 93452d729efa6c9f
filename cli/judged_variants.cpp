// SPDX-License-Identifier: Apache-2.0
#include "judged_variants.hpp"

#include "published_answers.hpp"
#include "status_line.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "judge/reference_json.hpp"
#include "kernel/file.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

outcome::Judgement judge(Workbench& workbench, const std::string& file, const std::string& source, bool quick) {
  auto judgement = workbench.judge.screen(source, file);
  if (quick || !outcome::is_right(judgement.verdict)) return judgement;
  return workbench.judge.confirm(source, file, judgement.tunables);
}

// What a variant says about which task it answers, when that is not this one.
void note_other_task(const task::Task& task, const std::string& file, const std::string& source, const Console& console) {
  const auto parsed = kernel::parse(source, file);
  if (!parsed || !parsed->of) return;
  const std::string said = parsed->of->second.substr(std::string_view("sha256:").size()), digest = base::sha256(task.file.source);
  if (digest.starts_with(said) || task.digest.starts_with(said)) return;
  console.note(fmt::format("{} says that it answers {} with sha256:{}, but {} has sha256:{}: it was written for another text of this task, or for another task",
                           file, parsed->of->first, said, task.file.name, digest.substr(0, std::max<std::size_t>(said.size(), 8))));
}

}  // namespace

void add_judged_variants_options(Arguments app, JudgedVariantsOptions& options) {
  app.add_flag("--quick", options.quick, "Take a first verdict only, without confirmation in fresh processes");
  app.add_flag("--json", options.as_json, "Print one JSON object");
  add_device_options(app, options.device);
  add_judge_options(app, options.workbench);
  add_accept_degenerate(app, options.workbench);
}

JudgedHere judge_on(const DeviceChoice& choice, const JudgedVariantsOptions& options, const Console& console) {
  std::vector<std::string> sources;
  for (const auto& file : options.variants) sources.push_back(base::read_file(file));
  auto open = open_task(options.task, choice);
  say_device(choice, options.workbench, console);
  require_fit(open, console);
  for (std::size_t i = 0; i < sources.size() && !task::is_module(open.task); ++i)
    if (const auto drafted = drafted_variant(sources[i], options.variants[i])) {
      console.note(drafted->note);
      sources[i] = drafted->source;
    }
  JudgedHere result{choice, open.task.name(), {}, {}};
  if (std::any_of(options.variants.begin(), options.variants.end(), [](const auto& file) { return pytorch::is_module(file); })) {
    if (!task::is_module(open.task))
      throw base::Error(base::Fault::usage, fmt::format("a PyTorch module answers a PyTorch module, which {} is not", options.task.task));
    result.reference.oracle = true;
    result.judgements = judge_published(options, open, choice, console);
    return result;
  }
  StatusLine status(console);
  std::string printed;
  auto workbench_options = options.workbench;
  workbench_options.final_verdicts = !options.quick;
  workbench_options.printed = [&](const std::string& text) {
    if (printed.empty()) printed = text;  // runs that confirm say it again
  };
  Workbench workbench(open, choice, workbench_options);
  status.show("the reference");
  result.reference = workbench.judge.reference();
  for (const auto& warning : workbench.judge.warnings()) console.note(warning);
  for (const auto& finding : result.reference.findings)
    console.note(fmt::format("{}: {}", outcome::name(finding.verdict), finding.reason));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    note_other_task(open.task, options.variants[i], sources[i], console);
    status.show("judging " + options.variants[i]);
    result.judgements.push_back({options.variants[i], judge(workbench, options.variants[i], sources[i], options.quick)});
    if (printed.empty()) continue;
    status.clear();
    console.note(fmt::format("{} printed:\n{}", options.variants[i], printed));
    printed.clear();
  }
  status.clear();
  return result;
}

nlohmann::ordered_json to_json(const JudgedHere& judged) {
  const auto& reference = judged.reference;
  json findings = json::array();
  for (const auto& finding : reference.findings)
    findings.push_back({{"verdict", outcome::name(finding.verdict)}, {"reason", finding.reason}});
  json list = json::array();
  for (const auto& [name, judgement] : judged.judgements)
    list.push_back({{"file", name}, {"judgement", json::parse(outcome::to_json(judgement))}});
  return {{"schema", 1},
          {"task", judged.task},
          {"device", judged.choice.identity()},
          {"predicted", reference.predicted},
          {"oracle", reference.oracle},
          {"shadow_oracle", reference.shadow},
          {"precision", outcome::name(reference.precision)},
          {"findings", findings},
          {"reference", json::parse(judge::times_json(reference))},
          {"variants", list}};
}

JudgedVariants judge_variants(const JudgedVariantsOptions& options, const Console& console) {
  const auto choice = choose_device(options.device);
  JudgedHere judged = judge_on(choice, options, console);
  const auto& reference = judged.reference;
  if (options.as_json) console.result(to_json(judged).dump(2) + "\n");
  else console.print(report::judgement_table(judged.judgements, {console.colour(stdout), console.width(stdout)}, options.counters));
  // "right" says less where nothing but the task's own kernel says what is.
  if (!reference.oracle && !options.as_json)
    console.result(reference.shadow ? fmt::format("\nSHADOW_ORACLE: {}.\n", reference.note)
                                    : fmt::format("\nNO_ORACLE: {}. Variants were compared with the task's own kernel alone.\n", reference.note));
  return {std::move(judged.judgements), choice.fallback};
}

}  // namespace cudal1::cli
