// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "playbook/candidate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cudal1::playbook {

// The id of the candidate that a kernel file came from; empty for anybody else's.
std::string candidate_id(const std::string& source);

// Which candidate answers a question; nothing when none is left. What the hint names comes first, then the candidates in
// their order, which is that of their expected times (a bandit over techniques was no better: tests/figures/README.md);
// what should take far longer than the fastest one so far is left out. Depends on the question alone.
std::optional<std::size_t> choose(const std::vector<Candidate>& candidates, const model::Question& question);

// The candidate that answers a failed one: of the same algebra and not itself, one that only repairs, or the plainest. Samples take turns.
std::optional<std::size_t> choose_repair(const std::vector<Candidate>& candidates, const std::string& failed_id, int sample);

// The candidate closest to `winner_id` without the techniques `undone`: it has all the others of the winner, and as few
// of its own as can be. Nothing when no candidate does.
std::optional<std::size_t> choose_without(const std::vector<Candidate>& candidates, const std::string& winner_id,
                                          const std::vector<std::string>& undone);

}  // namespace cudal1::playbook
