// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/variant.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cudal1::search {

// The scratchpad that later rounds see: for each technique that answers named, what it came to so far, best first, and
// with which faults; one line each, at most `most`.
std::vector<std::string> lessons(const std::vector<Variant>& variants, std::size_t most = 12);

// A technique for one sample of a round to start from, so that parallel samples spread: the first sample is left free
// (empty), each further one gets the next of techniques() ranked by upper confidence bound: the mean gain of the answers
// that used it, as a share of the best one's, plus a bonus for the seldom tried.
std::string suggest_technique(const std::vector<Variant>& variants, int sample);

}  // namespace cudal1::search
