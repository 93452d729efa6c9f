// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/resource_facts.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace cudal1::outcome {

// What the compiler hands to a device. The GPU loads the cubin, the simulator reads the PTX.
struct Binary {
  std::string ptx;
  std::string cubin;                             // bytes; empty when none was asked for
  std::string arch;                              // "sm_90a"
  std::map<std::string, std::string> entries;    // name expression as launched → lowered symbol
  std::vector<ResourceFacts> resources;          // one per entry
  std::vector<std::string> variables;            // symbols of global variables: none may change between launches
  std::vector<std::string> constants;            // symbols of `__constant__` variables, which a plan may fill
  std::string file;                              // the kernel file's name, as line information refers to it
};

// Whether a variable's symbol is what the source calls so, with or without its namespaces.
bool names_variable(const std::string& name, const std::string& symbol);

}  // namespace cudal1::outcome
