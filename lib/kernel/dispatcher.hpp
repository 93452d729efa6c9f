// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/plan.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::kernel {

// One answer of several that share a file, each at sizes of its own.
struct DispatchedPart {
  std::string source, name;        // an answer's text, and a name for messages
  Environment tunables;            // of the family member that was judged best
  std::string condition;           // "N <= 1024"
};

// One answer with all of them: each part's code in a namespace of its own, its steps under `when`. What the parts include stands in front.
tl::expected<std::string, base::Diagnostics> dispatcher(const std::vector<DispatchedPart>& parts);

// For each group the condition on one size that holds at its workloads and at no other's: `sizes` of each workload, `groups` the group that it
// belongs to, from 0. Between two neighbouring values the bound is their geometric mean. Empty: no single size tells the groups apart.
std::vector<std::string> dispatch_conditions(const std::vector<std::map<std::string, std::int64_t>>& sizes, const std::vector<std::size_t>& groups);

}  // namespace cudal1::kernel
