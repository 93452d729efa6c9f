// SPDX-License-Identifier: Apache-2.0
// False claims between identical kernels, and right ones about kernels that do more work.
#include "bench.hpp"
#include "figures.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include <fmt/format.h>

namespace figures {

namespace {

// The upper end of the one-sided 95 % interval for `events` of `count` (Clopper and Pearson), by bisection.
double upper_bound(int events, int count) {
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double p = 0.5 * (low + high);
    double term = std::pow(1 - p, count), sum = 0;
    for (int k = 0; k <= events; ++k) {
      sum += term;
      term *= (count - k) / (k + 1.0) * p / (1 - p);
    }
    (sum > 0.05 ? low : high) = p;
  }
  return high;
}

struct Tally {
  std::map<Verdict, int> verdicts;
  std::vector<double> speedups, pairs, seconds, milliseconds;
  int count = 0;
  void add(const std::string& verdict, double mean, double taken, double ms, double spent) {
    ++verdicts[*outcome::parse_verdict(verdict)];
    speedups.push_back(std::exp(mean));
    pairs.push_back(taken);
    milliseconds.push_back(ms);
    seconds.push_back(spent);
    ++count;
  }
  void print(const std::string& name) const {
    if (count == 0) return;
    auto sorted = speedups;
    std::sort(sorted.begin(), sorted.end());
    std::string list;
    for (const auto& [verdict, times] : verdicts) list += fmt::format(" {} {}", outcome::name(verdict), times);
    std::printf("%-18s %9.4f ms  %4d  median %.4f, 5 %% %.4f, 95 %% %.4f  %3.0f pairs  %.3f s %s\n", name.c_str(), median(milliseconds), count,
                median(speedups), sorted[sorted.size() / 20], sorted[sorted.size() - 1 - sorted.size() / 20], median(pairs),
                median(seconds), list.c_str());
    std::fflush(stdout);
  }
};

// Runs `count` comparisons spread over the kernels, adding to those that `record` holds already.
bool compare_all(const std::vector<Kernel>& kernels, bench::Purpose purpose, int count, const std::string& record) {
  const base::Seconds end = base::now() + limit();
  std::map<std::string, Tally> tallies;
  if (!record.empty()) {
    std::ifstream before(record);
    std::string name, verdict;
    double mean, pairs, ms, seconds;
    while (before >> name >> verdict >> mean >> pairs >> ms >> seconds) tallies[name].add(verdict, mean, pairs, ms, seconds);
  }
  const int each = (count + static_cast<int>(kernels.size()) - 1) / static_cast<int>(kernels.size());
  bool complete = true;
  for (const Kernel& kernel : kernels) {
    Tally& tally = tallies[kernel.name];
    if (tally.count < each && base::now() < end) {
      const base::Seconds began = base::now();
      Bench bench(kernel);
      const double ready = (base::now() - began).count();
      while (tally.count < each && base::now() < end) {
        const auto result = bench.compare(purpose);
        tally.add(outcome::name(result.verdict), result.estimate.mean, result.estimate.pairs, result.reference_ms, result.seconds);
        if (!record.empty()) {
          std::ofstream more(record, std::ios::app);
          more << fmt::format("{} {} {:.6f} {} {:.6f} {:.3f}\n", kernel.name, outcome::name(result.verdict), result.estimate.mean,
                              result.estimate.pairs, result.reference_ms, result.seconds);
        }
      }
      std::fprintf(stderr, "%s: ready after %.2f s, done after %.2f s\n", kernel.name.c_str(), ready, (base::now() - began).count());
    }
    complete = complete && tally.count >= each;
    tally.print(kernel.name);
  }
  int all = 0, faster = 0, slower = 0;
  for (auto& [name, tally] : tallies) {
    all += tally.count;
    faster += tally.verdicts[Verdict::faster];
    slower += tally.verdicts[Verdict::slower];
  }
  std::printf("%d comparisons: %d FASTER, %d SLOWER%s\n", all, faster, slower, complete ? "" : " (stopped early)");
  if (all > 0)
    std::printf("upper 95 %% bound of FASTER or SLOWER: %.2f %%\n", 100 * upper_bound(faster + slower, all));
  return complete;
}

}  // namespace

int aa(const std::string& level, int count, const std::string& record, const std::string& only) {
  const auto purpose = level == "screening" ? bench::Purpose::screening : bench::Purpose::final_;
  std::vector<Kernel> kernels = identical_kernels();
  if (!only.empty()) std::erase_if(kernels, [&](const Kernel& kernel) { return kernel.name != only; });
  if (kernels.empty() && only.starts_with("arithmetic_")) kernels = {arithmetic(std::stol(only.substr(11)), 0)};
  return compare_all(kernels, purpose, count, record) ? 0 : 1;
}

int slow(double percent, int count, const std::string& only) {
  std::vector<Kernel> kernels{arithmetic(400, percent), arithmetic(2000, percent), arithmetic(8000, percent)};
  // More bytes do not cost their share of the time, part of which is start and end: their number is found by measuring.
  for (const long elements : {1L << 23, 1L << 24, 1L << 26}) {
    if (!only.empty() && traffic(elements, percent).name != only) continue;
    double extra = percent;
    for (int step = 0; step < 3; ++step) {
      Bench bench(traffic(elements, extra));
      const auto samples = bench.time(240, true).samples;
      const double slower = 100 * (bench::median_ms(samples, 1) / bench::median_ms(samples, 0) - 1);
      std::printf("traffic_%ldk: %.1f %% more bytes are %.2f %% slower\n", elements >> 10, extra, slower);
      if (std::fabs(slower - percent) < 0.02 * percent || slower <= 0) break;
      if (step < 2) extra *= percent / slower;
    }
    kernels.push_back(traffic(elements, extra));
  }
  if (!only.empty()) std::erase_if(kernels, [&](const Kernel& kernel) { return kernel.name != only; });
  return compare_all(kernels, bench::Purpose::final_, count, "") ? 0 : 1;
}

}  // namespace figures
