// SPDX-License-Identifier: Apache-2.0
#include "judged_variants.hpp"

#include "published_answers.hpp"
#include "status_line.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
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

std::string as_json(const task::Task& task, const DeviceChoice& choice, const judge::ReferenceFacts& reference,
                    const std::vector<report::NamedJudgement>& judgements) {
  json times = json::array();
  for (const auto& time : reference.times)
    times.push_back({{"workload", time.workload},
                     {"time_ms", time.ms},
                     {"speed_of_light_ms", time.speed_of_light_ms},
                     {"limited_by", time.limited_by}});
  json findings = json::array();
  for (const auto& finding : reference.findings)
    findings.push_back({{"verdict", outcome::name(finding.verdict)}, {"reason", finding.reason}});
  json list = json::array();
  for (const auto& [name, judgement] : judgements)
    list.push_back({{"file", name}, {"judgement", json::parse(outcome::to_json(judgement))}});
  return json{{"schema", 1},
              {"task", task.name()},
              {"device", choice.identity()},
              {"predicted", reference.predicted},
              {"oracle", reference.oracle},
              {"shadow_oracle", reference.shadow},
              {"precision", outcome::name(reference.precision)},
              {"findings", findings},
              {"reference", times},
              {"variants", list}}
             .dump(2) +
         "\n";
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
  app.add_flag("--quick", options.quick, "A first verdict only, without confirmation in fresh processes");
  app.add_flag("--json", options.as_json, "Print one JSON object");
  add_device_options(app, options.device);
  add_judge_options(app, options.workbench);
  add_accept_degenerate(app, options.workbench);
}

JudgedVariants judge_variants(const JudgedVariantsOptions& options, const Console& console) {
  std::vector<std::string> sources;
  for (const auto& file : options.variants) sources.push_back(base::read_file(file));
  const auto choice = choose_device(options.device);
  auto open = open_task(options.task, choice);
  say_device(choice, options.workbench, console);

  require_fit(open, console);
  for (std::size_t i = 0; i < sources.size() && !task::is_module(open.task); ++i)
    if (const auto drafted = drafted_variant(sources[i], options.variants[i])) {
      console.note(drafted->note);
      sources[i] = drafted->source;
    }
  if (std::any_of(options.variants.begin(), options.variants.end(), [](const auto& file) { return pytorch::is_module(file); })) {
    if (!task::is_module(open.task))
      throw base::Error(base::Fault::usage, fmt::format("a PyTorch module answers a PyTorch module, which {} is not", options.task.task));
    judge::ReferenceFacts reference;
    reference.oracle = true;
    auto judgements = judge_published(options, open, choice, console);
    console.result(options.as_json ? as_json(open.task, choice, reference, judgements)
                                   : report::judgement_table(judgements, {console.colour(stdout), console.width(stdout)}, false));
    return {std::move(judgements), choice.fallback};
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
  const auto reference = workbench.judge.reference();
  for (const auto& warning : workbench.judge.warnings()) console.note(warning);
  for (const auto& finding : reference.findings)
    console.note(fmt::format("{}: {}", outcome::name(finding.verdict), finding.reason));
  std::vector<report::NamedJudgement> judgements;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    note_other_task(open.task, options.variants[i], sources[i], console);
    status.show("judging " + options.variants[i]);
    judgements.push_back({options.variants[i], judge(workbench, options.variants[i], sources[i], options.quick)});
    if (printed.empty()) continue;
    status.clear();
    console.note(fmt::format("{} printed:\n{}", options.variants[i], printed));
    printed.clear();
  }
  status.clear();
  if (options.as_json) console.result(as_json(open.task, choice, reference, judgements));
  else console.print(report::judgement_table(judgements, {console.colour(stdout), console.width(stdout)}, options.counters));
  // "right" says less where nothing but the task's own kernel says what is.
  if (!reference.oracle && !options.as_json)
    console.result(reference.shadow ? fmt::format("\nSHADOW_ORACLE: {}.\n", reference.note)
                                    : fmt::format("\nNO_ORACLE: {}. Variants were compared with the task's own kernel alone.\n", reference.note));
  return {std::move(judgements), choice.fallback};
}

}  // namespace cudal1::cli
