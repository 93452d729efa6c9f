// SPDX-License-Identifier: Apache-2.0
// The judge's statistics on times that a GPU gave: every kernel of a trace against itself.
#include "trace.hpp"

#include "bench/comparison.hpp"
#include "bench/order.hpp"

#include "catch.hpp"

#include <cmath>

using namespace cudal1;
using outcome::Verdict;

namespace {

const std::string path = CUDAL1_SOURCE_DIR "/tests/figures/traces/h200.txt";

}  // namespace

TEST_CASE("intervals hold 1 as often as they claim on recorded times") {
  const auto traces = read_traces(path);
  REQUIRE(traces.size() >= 8);
  for (const int n : {12, 24, 48}) {
    int held = 0, windows = 0;
    for (const Trace& trace : traces) {
      for (std::size_t from = 0; from + static_cast<std::size_t>(n) <= trace.pairs.size(); from += static_cast<std::size_t>(n)) {
        const auto ratios = bench::log_ratios(trace.samples(from, from + static_cast<std::size_t>(n)));
        const auto estimate = bench::estimate(ratios, 0.05, bench::timer_guard(trace.tick_ms, trace.span_ms));
        held += estimate.low() <= 0 && 0 <= estimate.high();
        ++windows;
      }
    }
    INFO(held << " of " << windows << " at " << n << " pairs");
    REQUIRE(windows > 40);
    CHECK(held >= 0.92 * windows);
  }
}

TEST_CASE("equal kernels of a recorded trace are never called faster or slower") {
  int windows = 0;
  for (const Trace& trace : read_traces(path)) {
    for (std::size_t from = 0; from + bench::looks.back() <= trace.pairs.size(); from += bench::looks.back()) {
      for (const auto purpose : {bench::Purpose::screening, bench::Purpose::final_}) {
        bench::Comparison comparison(purpose, {1}, 1e9);
        std::size_t next = from;
        std::optional<Verdict> verdict;
        while (!verdict) {
          const auto more = static_cast<std::size_t>(comparison.wanted(0));
          comparison.add(0, trace.samples(next, next + more), trace.tick_ms);
          next += more;
          verdict = comparison.look();
        }
        INFO(trace.kernel << " from pair " << from);
        CHECK(*verdict != Verdict::faster);
        CHECK(*verdict != Verdict::slower);
        ++windows;
      }
    }
  }
  CHECK(windows > 60);
}
