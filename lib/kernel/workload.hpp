// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::kernel {

// One assignment of sizes, before it is evaluated.
struct Assignment {
  std::vector<std::pair<std::string, Expression>> values;  // every size, derived ones too, in order of declaration
  double weight = 1;
  Place place;
};

// The file's workloads. Size lines whose names are all new add to the first workload; a line that gives a name a second
// time begins a further workload, which is the first one with this line's values in place. One without any size line.
std::vector<Assignment> workloads(const File& file);

// One assignment for each check line: the first workload with the line's values in place.
std::vector<Assignment> checks(const File& file);

// Sizes and scalars of an assignment, in whatever order they were written. `overrides` replace values by name (and may
// add none). Errors: a cycle, an unknown name, a size that is negative or no integer, a scalar its type cannot hold. A
// scalar's value is rounded to its type.
tl::expected<Environment, base::Diagnostic> environment(const File& file, const Assignment& assignment,
                                                        const Environment& overrides = {});

}  // namespace cudal1::kernel
