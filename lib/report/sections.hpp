// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "report/document.hpp"

namespace cudal1::report {

// Counters of two judgements side by side, where either has any.
void append_counters(const outcome::Judgement& reference, const outcome::Judgement& variant, Document& out);

// PyTorch's times for the task and the variant's speed-up over each, where they were taken.
void append_baselines(const outcome::Judgement& judgement, Document& out);

// Registers, shared memory, spills and occupancy of each kernel.
void append_resources(const outcome::Judgement& judgement, Document& out);

// What was rejected, by the reason: how many answers, which, and what was said of the first.
void append_rejections(const store::Run& run, Document& out);

// What the winner's techniques brought, where they were taken out again.
void append_ablation(const search::Result& result, Document& out);

}  // namespace cudal1::report
