// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison.hpp"

#include "bench/order.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cudal1::bench {

namespace {

constexpr double final_alpha = 0.01;
constexpr int least_pairs = 12;          // even when they cost more than the budget
constexpr double usual_clock = 0.9;      // of the median: below it a chunk of samples was throttled
constexpr std::size_t most_taken = 2;    // times the pairs of a look, where many are set aside

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

Comparison::Comparison(Purpose purpose, std::vector<double> weights, double budget_ms, int final_pairs)
    : purpose_(purpose), weights_(std::move(weights)), budget_ms_(budget_ms), series_(weights_.size()), parts_(weights_.size()) {
  if (purpose == Purpose::screening) looks_.assign(looks.begin(), looks.end());
  else looks_ = {final_pairs};
  alpha_ = purpose == Purpose::screening ? look_alpha : final_alpha;
}

std::vector<device::Sample> Comparison::sound(const Series& series) const {
  std::vector<double> clocks;
  for (const device::Sample& sample : series.samples)
    if (sample.clock_hz > 0) clocks.push_back(sample.clock_hz);
  const double least = usual_clock * median(std::move(clocks));
  const auto throttled = [&](const device::Sample& sample) { return sample.clock_hz > 0 && sample.clock_hz < least; };
  std::vector<device::Sample> result;
  for (std::size_t i = 0; i + 1 < series.samples.size(); i += 2) {
    if (throttled(series.samples[i]) || throttled(series.samples[i + 1])) continue;
    result.push_back(series.samples[i]);
    result.push_back(series.samples[i + 1]);
  }
  return result;
}

int Comparison::wanted(std::size_t workload) const {
  const Series& series = series_[workload];
  const auto look = static_cast<std::size_t>(looks_[next_]);
  if (series.samples.size() / 2 >= most_taken * look) return 0;
  const std::size_t held = sound(series).size() / 2;
  return held >= look ? 0 : static_cast<int>(look - held);
}

void Comparison::add(std::size_t workload, const std::vector<device::Sample>& samples, double tick_ms) {
  assert(samples.size() % 2 == 0);
  Series& series = series_[workload];
  series.tick_ms = tick_ms;
  series.samples.insert(series.samples.end(), samples.begin(), samples.end());
  for (const device::Sample& sample : samples) spent_ms_ += sample.ms;
}

std::optional<outcome::Verdict> Comparison::look() {
  for (std::size_t w = 0; w < series_.size(); ++w)
    if (wanted(w) > 0) return std::nullopt;
  for (std::size_t w = 0; w < series_.size(); ++w) {
    const auto samples = sound(series_[w]);
    parts_[w] = bench::estimate(log_ratios(samples), alpha_, timer_guard(series_[w].tick_ms, shortest_ms(samples)));
  }
  estimate_ = combine(parts_, weights_);
  const bool last = next_ + 1 == looks_.size() || (spent_ms_ > budget_ms_ && looks_[next_] >= least_pairs);
  const auto verdict = decide(estimate_, purpose_, last);
  if (!verdict) ++next_;
  return verdict;
}

double Comparison::median_ms(std::size_t workload, std::size_t arm) const {
  return bench::median_ms(sound(series_[workload]), arm);
}

int Comparison::set_aside() const {
  std::size_t result = 0;
  for (const Series& series : series_) result += series.samples.size() - sound(series).size();
  return static_cast<int>(result);
}

double Comparison::longest_stall_ms() const {
  double longest = 0;
  for (const Series& series : series_)
    for (const device::Sample& sample : series.samples) longest = std::max(longest, sample.stall_ms);
  return longest;
}

}  // namespace cudal1::bench
