// SPDX-License-Identifier: Apache-2.0
#include "published_answers.hpp"

#include "status_line.hpp"
#include "worker.hpp"

#include "base/error.hpp"
#include "judge/gpu_lock.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::cli {

judge::AnswerOptions answer_options(const WorkbenchOptions& workbench, const std::vector<std::string>& set, const OpenTask& open,
                                    const DeviceChoice& choice) {
  judge::AnswerOptions asked;
  asked.process.worker = worker_program("answer");
  asked.process.python = open.pytorch->python();
  asked.process.device = choice.device == "sim" ? "cpu" : choice.device;
  asked.process.unconfined = workbench.no_sandbox;
  asked.process.afresh = std::any_of(open.defects.begin(), open.defects.end(), [](const auto& each) { return each.kind == "stateful"; });
  asked.overrides = overrides(set);
  asked.precision = precision_of(workbench, open.task);
  asked.final_pairs = static_cast<std::size_t>(workbench.final_pairs);
  asked.baselines = baselines(workbench, open.task);
  asked.facts = choice.facts;
  if (choice.device != "sim") asked.gpu_lock = judge::gpu_lock(choice.facts.uuid);
  return asked;
}

std::vector<report::NamedJudgement> judge_published(const JudgedVariantsOptions& options, const OpenTask& open,
                                                    const DeviceChoice& choice, const Console& console) {
  judge::AnswerOptions asked = answer_options(options.workbench, options.task.set, open, choice);
  asked.untimed = options.untimed;
  StatusLine status(console);
  std::vector<report::NamedJudgement> judgements;
  for (const auto& file : options.variants) {
    if (!pytorch::is_module(file))
      throw base::Error(base::Fault::usage, fmt::format("{}: kernel files and PyTorch modules are judged one kind at a time", file));
    asked.progress = [&](const std::string& step) { status.show(fmt::format("{}: {}", file, step)); };
    judgements.push_back({file, judge::judge_answer(*open.pytorch, open.task, file, asked)});
  }
  status.clear();
  return judgements;
}

}  // namespace cudal1::cli
