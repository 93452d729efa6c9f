// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/size_rules.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudal1::task {

// Small ragged sizes for a task that declares no `check`: proposals in order of preference, each giving every literal
// size a value. Sizes of at most eight are kept, because they are often kernel extents, strides or dimensions; so are those that
// `rules` keep.
std::vector<std::map<std::string, std::int64_t>> ragged_sizes(const kernel::Assignment& declared, const kernel::SizeRules& rules);

// Sizes next to an assignment's own: every literal size above eight is one larger.
std::map<std::string, std::int64_t> next_sizes(const kernel::Assignment& declared, const kernel::SizeRules& rules);

}  // namespace cudal1::task
