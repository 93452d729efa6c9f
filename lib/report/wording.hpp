// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "outcome/speedup_text.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cudal1::report {

// Numbers and verdicts in the words of every format.
using outcome::text;                                    // "52.1x [40.2, 67.5]"
std::string ratio(double value);                        // "52.1x"
std::string milliseconds(double ms);                    // "0.0523 ms"
std::string percent(double share);                      // "91 %"; "" for 0
std::string bytes(double count);                        // "48.0 KiB"
std::string sizes(const std::map<std::string, std::int64_t>& values);  // "N=4096 M=4096"
std::string verdict(const outcome::Judgement& judgement);              // "PREDICTED_FASTER"

// Of a journal's time of day, since 1970; 0 where it is none.
double seconds_of(const std::string& at);

// What is known of races and stray accesses beside the verdict: "compute-sanitizer passed"; empty where nothing was to be said.
std::string_view sanitized(const outcome::Judgement& judgement);

// How much of the outputs at the declared sizes was looked at, where that is not all of them or was counted; else empty.
std::string full_size(const outcome::ErrorFigures& errors);

// What a label means for the reader of a time; empty where the verdict's own text says it.
std::string_view explanation(outcome::Label label);

// What KernelBench's own comparison says of a variant; empty where the task is no PyTorch module.
std::string kernelbench(double least_tolerance);   // "KernelBench accepts it at 1e-4 (it takes 2.1e-07)"

// The evidence of a judgement that is not right: diagnostics, findings, wrong elements; several lines or empty.
std::string evidence(const outcome::Judgement& judgement);

}  // namespace cudal1::report
