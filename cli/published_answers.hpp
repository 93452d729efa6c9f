// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judged_variants.hpp"

#include "judge/answer.hpp"

namespace cudal1::cli {

// How a published answer to the open task is judged. `set`: as --set has it.
judge::AnswerOptions answer_options(const WorkbenchOptions& workbench, const std::vector<std::string>& set, const OpenTask& open,
                                    const DeviceChoice& choice);

// Judges variants that are PyTorch modules with a ModelNew, each in processes of its own.
std::vector<report::NamedJudgement> judge_published(const JudgedVariantsOptions& options, const OpenTask& open,
                                                    const DeviceChoice& choice, const Console& console);

}  // namespace cudal1::cli
