// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/ptx_statements.hpp"

#include <string>
#include <vector>

namespace cudal1::compile {

// The clocks (%clock64, %globaltimer …) that decide what one function writes: the value, the address or whether a store is
// reached follows from them. A clock may decide how long a wait takes, as in cuda::barrier: a loop that only polls and
// sleeps is passed. `body` holds the function's statements between its outermost braces, labels and inner blocks among them.
//
// Data is followed through registers, and control from each branch that a clock decides to where its sides meet again.
std::vector<std::string> deciding_clocks(const std::vector<const Statement*>& body);

}  // namespace cudal1::compile
