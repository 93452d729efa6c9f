// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/candidate.hpp"
#include "pytorch/host.hpp"

#include <cstddef>
#include <string>

namespace cudal1::judge {

// Timing in turns with a process of PyTorch: samples in a row before the other process has the GPU.
constexpr std::size_t pytorch_turn = 4;
// What alternating between two processes adds to a difference of times: measured, and taken for a tick of the clock, of
// which half counts. In milliseconds.
constexpr double hand_over_ms = 0.0004;

// "inputs with outliers, other weights": under which trial something was seen.
std::string trial_name(const pytorch::Trial& trial);

// What PyTorch's comparison found wrong, as a verdict; `where`: under which trial, or in which execution.
Rejected wrong_result(const pytorch::Comparison& found, const std::string& where);

}  // namespace cudal1::judge
