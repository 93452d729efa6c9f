// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "sim/module.hpp"
#include "sim/program.hpp"

#include <cstdint>
#include <map>
#include <string>

#include <tl/expected.hpp>

namespace cudal1::sim {

// Links an entry with the functions it calls and turns their statements into instructions. `addresses` are the device
// addresses of the module's .global and .const variables. What the interpreter lacks is refused: "sim does not know …".
tl::expected<Program, base::Diagnostic> decode(const Module& module, const Function& entry,
                                               const std::map<std::string, std::uint64_t>& addresses);

// What a statement costs: its kind of work and, per lane, its floating-point operations.
void classify(StatementFacts& facts);

}  // namespace cudal1::sim
