// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "report/document.hpp"

namespace cudal1::report {

// Counters of two judgements side by side, where either has any.
void append_counters(const outcome::Judgement& reference, const outcome::Judgement& variant, Document& out);

// Registers, shared memory, spills and occupancy of each kernel.
void append_resources(const outcome::Judgement& judgement, Document& out);

}  // namespace cudal1::report
