// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::compile {

// PTX cut into statements. A brace that opens or closes a block is a statement of its own, and so is a label with its colon;
// braces of vector operands and initialisers are tokens. Comments, .loc lines and debugging sections are left out.
using Statement = std::vector<std::string_view>;  // views into the text

std::vector<Statement> ptx_statements(std::string_view ptx);

inline bool is_label(const Statement& statement) { return statement.size() == 2 && statement[1] == ":"; }

// One operand of an instruction: [address], {vector}, (list) or a single word.
struct Operand {
  bool address = false;
  std::vector<std::string_view> words;
};

// Those of an instruction, from the word at `first` on.
std::vector<Operand> operands(const Statement& words, std::size_t first);

}  // namespace cudal1::compile
