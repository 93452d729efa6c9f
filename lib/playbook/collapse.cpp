// SPDX-License-Identifier: Apache-2.0
#include "playbook/candidate.hpp"
#include "playbook/playbook.hpp"

#include <fmt/format.h>

namespace cudal1::playbook {

std::string collapse(const task::Task& task) {
  constexpr double most = 0.5;  // of the arithmetic
  const Candidate* written = nullptr;
  const Candidate* shortest = nullptr;
  const auto candidates = candidates_for(task);
  for (const Candidate& candidate : candidates.list) {
    if (candidate.id.starts_with("strength/")) continue;  // cheaper operations, but as many
    const Candidate*& least = candidate.id.starts_with("as written/") ? written : shortest;
    if (least == nullptr || candidate.operations < least->operations) least = &candidate;
  }
  if (written == nullptr || shortest == nullptr || shortest->operations > (1 - most) * written->operations) return "";
  return fmt::format("algebra does without most of the arithmetic as written: {}", shortest->id.substr(0, shortest->id.find('/')));
}

}  // namespace cudal1::playbook
