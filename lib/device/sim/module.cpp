// SPDX-License-Identifier: Apache-2.0
#include "sim/module.hpp"

namespace cudal1::sim {

const Function* Module::function(const std::string& name) const {
  const Function* declared = nullptr;
  for (const Function& function : functions)
    if (function.name == name) {
      if (function.defined) return &function;
      declared = &function;
    }
  return declared;
}

const Variable* Module::variable(const std::string& name) const {
  for (const Variable& variable : variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

}  // namespace cudal1::sim
