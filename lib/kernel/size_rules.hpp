// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/workload.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace cudal1::kernel {

// What a file says, without a `check` line, about the sizes that its kernel takes besides its own.
struct SizeRules {
  // Sizes that keep their value: the extents of what stands in a file, the threads of a block, and a size whose value is
  // the bound of an index, as in `randint(0, 100)` beside `size V = 100`.
  std::set<std::string> kept;
  // `N / 16` blocks take no other N than multiples of 16.
  std::map<std::string, std::int64_t> multiple_of;
};
SizeRules size_rules(const File& file, const Assignment& assignment);

}  // namespace cudal1::kernel
