// SPDX-License-Identifier: Apache-2.0
// What cudal1's timing shows on a GPU. Each command prints a table.
//   figure_measure aa final|screening [COUNT [RECORD [KERNEL]]]
//                                             false claims between identical kernels, in buffers laid out anew each time
//   figure_measure slow PERCENT [COUNT [KERNEL]]
//                                             final verdicts on kernels that do PERCENT more work
//   figure_measure width                      half-width of the interval after 250 ms of GPU time
//   figure_measure trace FILE                 records pairs of every kernel against itself
//   figure_measure coverage FILE              coverage and false claims on recorded pairs; needs no GPU
//   figure_measure latency                    source text to verdict, by step
//   figure_measure stream [COUNT]             screening verdicts a minute for distinct candidates
//   figure_measure race [COUNT]               how often the fastest of four is chosen, with a round's race and without
// CUDAL1_FIGURE_LIMIT, seconds (default 120): a command stops early and says so. `aa` goes on with RECORD's comparisons.
#include "figures.hpp"

#include "base/error.hpp"
#include "compile/compiler.hpp"
#include "judge/judge.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace cudal1;
using namespace figures;

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto word = [&](std::size_t i, const char* otherwise) { return i < words.size() ? words[i] : std::string(otherwise); };
  try {
    if (word(0, "") == "worker") return word(1, "") == "compile" ? compile::worker_main() : judge::worker_main();
    if (word(0, "") == "aa") return aa(word(1, "final"), std::atoi(word(2, "1000").c_str()), word(3, ""), word(4, ""));
    if (word(0, "") == "slow") return slow(std::atof(word(1, "5").c_str()), std::atoi(word(2, "200").c_str()), word(3, ""));
    if (word(0, "") == "width") return width();
    if (word(0, "") == "trace") return trace(word(1, "trace.txt"));
    if (word(0, "") == "coverage") return coverage(word(1, CUDAL1_SOURCE_DIR "/tests/figures/traces/h200.txt"));
    if (word(0, "") == "latency") return latency();
    if (word(0, "") == "race") return race(std::atoi(word(1, "100").c_str()));
    if (word(0, "") == "stream") return stream(std::atoi(word(1, "200").c_str()));
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: figure_measure aa|slow|width|trace|coverage|latency|stream|race …\n");
  return 2;
}
