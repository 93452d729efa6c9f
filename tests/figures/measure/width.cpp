// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"
#include "figures.hpp"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace figures {

int width() {
  std::vector<double> inside;
  std::printf("%-18s %12s %6s %12s\n", "kernel", "t_R + t_C", "pairs", "half-width");
  for (const char* name : {"rms_norm", "gelu_bias", "transpose", "row_sum", "argmax", "causal_attention", "layer_norm", "traffic", "arithmetic"}) {
    Bench bench(std::string_view(name) == "traffic" ? traffic(1 << 24, 0) : std::string_view(name) == "arithmetic" ? arithmetic(400, 0) : example(name));
    const auto first = bench.time(12, true);
    const double both = bench::median_ms(first.samples, 0) + bench::median_ms(first.samples, 1);
    constexpr double flush_ms = 0.04;   // of each sample: the flush and the poisoned output
    const int pairs = std::max(12, static_cast<int>(250 / (both + 2 * flush_ms)) / 2 * 2);
    const auto reply = bench.time(pairs, false);
    const auto estimate = bench::estimate(bench::log_ratios(reply.samples), 0.05,
                                          bench::timer_guard(reply.tick_ms, bench::shortest_ms(reply.samples)));
    std::printf("%-18s %9.4f ms %6d %10.3f %%   speed-up %.4f, guard %.3f %%\n", name, both, pairs, 100 * estimate.half_width, std::exp(estimate.mean),
                100 * estimate.guard);
    std::fflush(stdout);
    if (both >= 0.04 && both <= 1) inside.push_back(100 * estimate.half_width);
  }
  std::printf("median where t_R + t_C lies between 40 us and 1 ms: %.3f %% of %zu kernels\n", median(inside), inside.size());
  return 0;
}

}  // namespace figures
