// SPDX-License-Identifier: Apache-2.0
#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace cudal1::time_model {

double predicted(const Pair& pair, const outcome::DeviceFacts& gpu, const sim::TimeConstants& constants) {
  double seconds = pair.other_seconds;
  for (const sim::LaunchProfile& launch : pair.launches) seconds += sim::predict(launch, gpu, constants).seconds;
  return seconds;
}

namespace {

// Where a constant stays without evidence: round numbers from what NVIDIA documents, so that nothing of a family that is left
// out comes back through them.
constexpr sim::TimeConstants prior{
    .launch_seconds = 3e-6,
    .block_seconds = 1e-9,
    .dram_share = 0.9,
    .l2_read_bytes = 32,
    .store_line_cycles = 1,
    .store_sector_cycles = 1,
    .line_cycles = 1,
    .issue_share = 1,
    .integer_share = 1,
    .tensor_share = 0.7,
    .warpgroup_share = 0.85,
    .latency_scale = 1,
    .warp_start_cycles = 10,
    .dram_run_bytes = 32,
    .line_step_seconds = 1e-9,
    .step_seconds = 5e-12,
    .sharpness = 4,
    .latency_sharpness = 2,
};

// Small errors count by their square, large ones by their size.
double huber(double error) {
  constexpr double knee = 0.3;
  const double size = std::abs(error);
  return size < knee ? size * size : knee * (2 * size - knee);
}

double loss(const std::map<std::string, std::vector<const Pair*>>& families, const outcome::DeviceFacts& gpu, const sim::TimeConstants& constants) {
  double total = 0;
  for (const auto& [name, members] : families) {
    std::vector<double> errors;
    for (const Pair* pair : members) errors.push_back(std::log(predicted(*pair, gpu, constants) / pair->measured));
    double of_family = 0, count = 0;
    for (std::size_t i = 0; i < errors.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) of_family += huber(errors[i] - errors[j]), count += 1;
    double whole = 0;
    for (const double error : errors) whole += huber(error);
    total += of_family / std::max(1.0, count) + 0.3 * whole / static_cast<double>(errors.size());
  }
  total /= static_cast<double>(families.size());
  for (const auto& field : sim::time_constant_fields()) {
    const double moved = std::log(constants.*field.member / (prior.*field.member));
    total += 0.002 * moved * moved;
  }
  return total;
}

}  // namespace

const sim::TimeConstants& documented_constants() { return prior; }

sim::TimeConstants fit(const std::vector<Pair>& pairs, const outcome::DeviceFacts& gpu, const std::string& left_out) {
  std::map<std::string, std::vector<const Pair*>> families;
  for (const Pair& pair : pairs)
    if (pair.family != left_out) families[pair.family].push_back(&pair);
  sim::TimeConstants best = prior;
  double least = loss(families, gpu, best);
  // One constant at a time, in steps that shrink.
  for (double step = 0.3; step > 0.02; step *= 0.6)
    for (const auto& field : sim::time_constant_fields())
      for (const double factor : {1 + step, 1 / (1 + step)})
        for (;;) {
          sim::TimeConstants tried = best;
          tried.*field.member *= factor;
          const double here = loss(families, gpu, tried);
          if (here >= least - 1e-9) break;
          least = here, best = tried;
        }
  return best;
}

Ranking rank(const std::vector<double>& measured, const std::vector<double>& guessed) {
  Ranking result;
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (std::size_t j = 0; j < measured.size(); ++j) {
      if (measured[i] < 1.2 * measured[j]) continue;
      ++result.pairs;
      result.ordered += guessed[i] > guessed[j];
    }
  const auto pick = static_cast<std::size_t>(std::min_element(guessed.begin(), guessed.end()) - guessed.begin());
  result.picked = measured[pick] / *std::min_element(measured.begin(), measured.end());
  return result;
}

}  // namespace cudal1::time_model
