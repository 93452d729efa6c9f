// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::reviewer {

// A kernel file that looks fast because it does not do the work; tests/cheats/rows has all of them.
struct Cheat {
  std::string name;    // "B2_clock_gating"
  std::string how;     // one sentence
  std::string source;  // the kernel file, without what tests say of it
};

// All known ones, by name. Parsed once; lives as long as the program.
const std::vector<Cheat>& known_cheats();

// The `count` known cheats whose code is most like this kernel file's, nearest first: cosine of their words, a word that
// many cheats have counting less (inverse document frequency: Sparck Jones 1972).
std::vector<const Cheat*> nearest_cheats(std::string_view source, std::size_t count);

}  // namespace cudal1::reviewer
