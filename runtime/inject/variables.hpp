// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::runtime {

// What a module of the program defines, as its ELF says: `__constant__` and `__device__` variables, and kernels.
struct ModuleSymbols {
  std::vector<std::string> variables;
  std::set<std::string, std::less<>> functions;
};
ModuleSymbols read_symbols(std::string_view cubin);

// All modules that have variables.
class Variables {
 public:
  void add_module(std::string_view cubin);
  // The variables that a kernel may use.
  std::vector<std::string> of(std::string_view kernel) const;

 private:
  std::vector<ModuleSymbols> modules_;
};

}  // namespace cudal1::runtime
