// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "judge/candidate.hpp"
#include "pytorch/host.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cudal1::judge {

// Timing in turns with a process of PyTorch: samples in a row before the other process has the GPU.
constexpr std::size_t pytorch_turn = 4;
// Whether every baseline is timed once more before any variant, after `taken` samples of each and the seconds since the first turn:
// their medians choose the one that variants are compared with.
constexpr bool wants_first_samples(std::size_t taken, base::Seconds since) {
  constexpr std::size_t most = 12, fewest = 8;
  constexpr base::Seconds patience{0.5};
  return taken < fewest || (taken < most && since < patience);
}
// What alternating between two processes adds to a difference of times: measured, and taken for a tick of the clock, of
// which half counts. In milliseconds.
constexpr double hand_over_ms = 0.0004;

// What a second process of a final verdict is verified with: the first one was, with all.
std::vector<pytorch::Trial> few_of(const std::vector<pytorch::Trial>& trials);

// "inputs with outliers, other weights": under which trial something was seen.
std::string trial_name(const pytorch::Trial& trial);

// What PyTorch's comparison found wrong, as a verdict; `where`: under which trial, or in which execution.
Rejected wrong_result(const pytorch::Comparison& found, const std::string& where);

}  // namespace cudal1::judge
