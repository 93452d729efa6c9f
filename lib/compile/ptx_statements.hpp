// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::compile {

// PTX cut into statements. A brace that opens or closes a block is a statement of its own; braces of vector operands and
// initialisers are tokens. Comments, .loc lines and debugging sections are left out.
using Statement = std::vector<std::string_view>;  // views into the text

std::vector<Statement> ptx_statements(std::string_view ptx);

}  // namespace cudal1::compile
