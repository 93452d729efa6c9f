// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include "bench.hpp"
#include "figures.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace figures {

int trace(const std::string& path) {
  std::ofstream file(path);
  for (const Kernel& kernel : identical_kernels()) {
    Bench bench(kernel);
    const auto first = bench.time(12, true);
    const int pairs = std::clamp(static_cast<int>(800 / bench::median_ms(first.samples, 0)) / 96 * 96, 96, 480);
    const auto reply = bench.time(pairs, true);
    file << fmt::format("kernel {} tick_ns {:.3f} span_ns {:.0f}\n", kernel.name, 1e6 * reply.tick_ms, 1e6 * bench::shortest_ms(reply.samples));
    for (std::size_t i = 0; i + 1 < reply.samples.size(); i += 2) {
      const auto& a = reply.samples[i].arm == 0 ? reply.samples[i] : reply.samples[i + 1];
      const auto& b = reply.samples[i].arm == 0 ? reply.samples[i + 1] : reply.samples[i];
      file << fmt::format("{:.1f} {:.1f}\n", 1e6 * a.ms, 1e6 * b.ms);
    }
    std::printf("%s: %d pairs\n", kernel.name.c_str(), pairs);
    std::fflush(stdout);
  }
  return file ? 0 : 1;
}

int coverage(const std::string& path) {
  const auto traces = read_traces(path);
  std::printf("%-18s %9s %6s %8s %8s |", "kernel", "time, us", "pairs", "scatter", "lag 1");
  for (const int n : bench::looks) std::printf("  n=%-3d", n);
  std::printf(" | sequential\n");
  std::map<int, std::pair<int, int>> all;
  int claims = 0, runs = 0;
  std::vector<double> screened, fixed;
  for (const Trace& trace : traces) {
    std::vector<double> ratios, times;
    for (const auto& [reference, variant] : trace.pairs) {
      ratios.push_back(std::log(reference / variant));
      times.push_back(reference);
    }
    double mean = 0, square = 0, lag = 0;
    for (const double d : ratios) mean += d / static_cast<double>(ratios.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      square += (ratios[i] - mean) * (ratios[i] - mean);
      if (i > 0) lag += (ratios[i] - mean) * (ratios[i - 1] - mean);
    }
    std::printf("%-18s %9.1f %6zu %6.2f %% %8.2f |", trace.kernel.c_str(), 1e3 * median(times), ratios.size(),
                100 * std::sqrt(square / static_cast<double>(ratios.size())), square > 0 ? lag / square : 0);
    for (const int n : bench::looks) {
      int held = 0, windows = 0;
      for (std::size_t from = 0; from + static_cast<std::size_t>(n) <= ratios.size(); from += static_cast<std::size_t>(n)) {
        const auto estimate = bench::estimate({ratios.data() + from, static_cast<std::size_t>(n)}, 0.05,
                                              bench::timer_guard(trace.tick_ms, trace.span_ms));
        held += estimate.low() <= 0 && 0 <= estimate.high();
        ++windows;
      }
      all[n].first += held;
      all[n].second += windows;
      std::printf(" %5.3f ", windows > 0 ? static_cast<double>(held) / windows : 0);
    }
    std::map<Verdict, int> verdicts;
    for (std::size_t from = 0; from + bench::looks.back() <= trace.pairs.size(); from += bench::looks.back()) {
      bench::Comparison comparison(bench::Purpose::screening, {1}, 1e9);
      std::optional<Verdict> verdict;
      std::size_t next = from;
      while (!verdict) {
        const auto more = static_cast<std::size_t>(comparison.wanted(0));
        comparison.add(0, trace.samples(next, next + more), trace.tick_ms);
        next += more;
        verdict = comparison.look();
      }
      screened.push_back(comparison.estimate().mean);
      bench::Comparison last(bench::Purpose::final_, {1}, 1e9);
      last.add(0, trace.samples(from, from + static_cast<std::size_t>(last.wanted(0))), trace.tick_ms);
      const Verdict fixed_verdict = *last.look();
      fixed.push_back(last.estimate().mean);
      claims += fixed_verdict == Verdict::faster || fixed_verdict == Verdict::slower;
      ++verdicts[*verdict];
      runs += 2;
      claims += *verdict == Verdict::faster || *verdict == Verdict::slower;
    }
    std::printf("|");
    for (const auto& [verdict, times_seen] : verdicts) std::printf(" %s %d", outcome::name(verdict).c_str(), times_seen);
    std::printf("\n");
  }
  std::printf("%-54s |", "all: share of 95 % intervals that hold 1");
  for (const int n : bench::looks) std::printf(" %5.3f ", all[n].second > 0 ? static_cast<double>(all[n].first) / all[n].second : 0);
  std::printf("| %d false claims of %d\n", claims, runs);
  const auto average = [](const std::vector<double>& values) {
    return std::exp(std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(std::max<std::size_t>(1, values.size())));
  };
  std::printf("what an equal kernel reads on average: %.5f after a screening, which stops early on low readings; %.5f after a fixed look\n",
              average(screened), average(fixed));
  return traces.empty() ? 1 : 0;
}

}  // namespace figures
