// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudal1::families {

// Functions of a file, each written once, and the names that others of them had.
struct SharedKernels {
  std::vector<std::string> functions;
  std::map<std::string, std::string> renamed;

  std::string launch(const std::string& text) const;   // of the function that stays: "rows<<<1, 32>>>(X)"
};

// The layers of a network often have kernels that differ in names alone: of their parameters, which are marked in `functions`
// (parameter_names.hpp), of the functions, which are in `names` or begin with one of them, and of `tunables` with one value, given with that value. Of such functions the
// first one stays; compiling the others would take as long again.
SharedKernels share_kernels(const std::vector<std::string>& functions, const std::set<std::string>& names, const std::map<std::string, std::string>& tunables);

}  // namespace cudal1::families
