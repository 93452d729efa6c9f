// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "playbook/candidate.hpp"

#include <string>

namespace cudal1::playbook {

// A reply in the three sections that a prompt asks for. The analysis argues from what the question shows: times,
// bytes against the device's bandwidth, shares of the limit and counters of the exemplars, and what sets their plans
// apart. `candidates` are all that the playbook has for the task.
std::string write_reply(const task::Task& task, const Candidate& candidate, const model::Question& question,
                        const std::vector<Candidate>& candidates);

}  // namespace cudal1::playbook
