// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judged_variants.hpp"

namespace cudal1::cli {

// Judges variants that are PyTorch modules with a ModelNew, each in processes of its own.
std::vector<report::NamedJudgement> judge_published(const JudgedVariantsOptions& options, const OpenTask& open,
                                                    const DeviceChoice& choice, const Console& console);

}  // namespace cudal1::cli
