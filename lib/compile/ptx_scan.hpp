// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::compile {

// What a compile's PTX says about the rules for device code.
struct PtxScan {
  std::map<std::string, int> entries;      // .entry symbols → threads per block by __launch_bounds__, 0: not bounded
  std::vector<std::string> forbidden;      // functions of the device's run-time that are called: "malloc"
  std::vector<std::string> unresolved;     // other functions that are called and nowhere defined
  std::vector<std::string> written;        // global variables that a kernel may write, or whose address gets away
  std::vector<std::string> clocks;         // clocks that decide what is written: "%clock64"
  std::vector<std::string> variables;      // all global variables, constants and literals among them
  std::vector<std::string> constants;      // those in constant memory
};

// Reads the statements of the whole text, inline assembly included. A variable counts as written unless every use of
// its address can be followed (flow-insensitively, within a function) to a load: constants and literals pass, which
// PTX spells like variables.
PtxScan scan_ptx(std::string_view ptx);

// "scale(float*, int)" for a mangled symbol, "scale<128>" without its parameters.
std::string readable_symbol(const std::string& symbol, bool parameters);

}  // namespace cudal1::compile
