// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/random.hpp"
#include "cuda/gpu.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>

namespace cudal1::cuda {

namespace {

using device::Sample;
using device::TimingRequest;

constexpr double ticks_per_sample = 400;      // a sample is at least this long, so that the clock's step is 1/4 %
constexpr double slope_below_ms = 0.05;       // shorter plans are timed as the slope between two batches
constexpr std::size_t chunk_samples = 10, chunk_launches = 64;
constexpr std::size_t rotation_limit = 5;     // times the L2 cache that a rotation through the sets must exceed
constexpr base::Seconds warm_up{0.025};
constexpr int chunk_attempts = 3;

struct PlannedSample {
  std::size_t arm = 0;
  std::vector<std::size_t> sets;   // one per launch; with a slope, N launches and then 2N
  std::size_t batch = 1;
  bool slope = false;
};

// One timing: the plans of all arms and sets, and how each arm is sampled.
class Timing {
 public:
  Timing(Gpu& gpu, const TimingRequest& request) : gpu_(gpu), request_(request), random_(request.seed, 3) {
    bool graphs = false;
    for (const device::Arm& arm : request.arms) {
      auto& plans = plans_.emplace_back();
      for (const device::BoundPlan& set : arm.sets) plans.push_back(gpu.prepare(set));
      graphs = graphs || (!plans.empty() && plans.front().steps() > 1);
      cursors_.push_back(0);
      auto& order = orders_.emplace_back(arm.sets.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    }
    // The same form for every arm: a graph's launches follow each other faster than a stream's.
    if (graphs)
      for (auto& plans : plans_)
        for (PreparedPlan& plan : plans) driver().require(plan.make_graph(gpu.stream()), "cannot make a graph of the plan");
    std::size_t bytes = 0;
    for (const device::BoundPlan& set : request.arms.front().sets)
      for (const device::Region& region : set.buffers) bytes += region.bytes;
    rotate_ = request.flush && bytes > (rotation_limit - 1) * gpu.facts().l2_bytes;
  }

  std::vector<Sample> run() {
    calibrate();
    std::vector<Sample> samples;
    std::size_t next = 0;
    int attempts = 0;
    while (next < request_.order.size()) {
      const std::vector<PlannedSample> chunk = plan_chunk(next);
      std::vector<Sample> taken;
      if (!take(chunk, taken) && ++attempts < chunk_attempts) continue;  // queueing took too long: not a measurement
      attempts = 0;
      samples.insert(samples.end(), taken.begin(), taken.end());
      next += chunk.size();
      if (!inspect(chunk)) break;
    }
    return samples;
  }

 private:
  void enqueue(std::size_t arm, std::size_t set) {
    const PreparedPlan::Failure failure = plans_[arm][set].enqueue(gpu_.stream());
    driver().require(failure.status, failure.step.c_str());
  }

  // Warms the clocks up and finds about how long each arm takes; without the gate, so that what a first call does
  // cannot meet it.
  void calibrate() {
    const std::set<std::size_t> used(request_.order.begin(), request_.order.end());
    const base::Seconds begin = base::now();
    for (const std::size_t arm : used) {
      double best = 0;
      for (int i = 0; i < 4; ++i) {
        const std::size_t set = orders_[arm][static_cast<std::size_t>(i) % orders_[arm].size()];
        if (request_.prepare) request_.prepare(arm, set);
        const Event start = make_event();
        const Event stop = make_event();
        driver().event_record(start.get(), gpu_.stream());
        enqueue(arm, set);
        driver().event_record(stop.get(), gpu_.stream());
        gpu_.synchronize("a timed execution failed");
        const double ms = elapsed_ms(start, stop);
        if (i > 0 && (best == 0 || ms < best)) best = ms;
      }
      typical_ms_[arm] = best;
    }
    const std::size_t first = *used.begin();
    while (base::now() - begin < warm_up) {
      const auto count = static_cast<std::size_t>(std::clamp(2.0 / std::max(typical_ms_[first], 1e-3), 1.0, 200.0));
      for (std::size_t i = 0; i < count; ++i) enqueue(first, orders_[first][i % orders_[first].size()]);
      gpu_.synchronize("a timed execution failed");
    }
  }

  // How many launches make a sample of an arm long enough, as far as there are sets for them.
  std::pair<std::size_t, bool> batch_of(std::size_t arm) const {
    const double typical = typical_ms_.at(arm);
    if (typical >= slope_below_ms || (request_.flush && !rotate_)) return {1, false};
    auto batch = static_cast<std::size_t>(std::ceil(ticks_per_sample * gpu_.tick_ms() / std::max(typical, 1e-4)));
    batch = std::clamp<std::size_t>(batch, 1, chunk_launches / 6);
    const std::size_t available = request_.flush ? plans_[arm].size() : chunk_launches;
    if (available < 6) return {1, false};
    return {std::min(batch, available / 6), true};
  }

  std::size_t next_set(std::size_t arm) {
    if (!request_.flush) return orders_[arm].front();   // hot: always the same memory
    return orders_[arm][cursors_[arm]++ % orders_[arm].size()];
  }

  std::vector<PlannedSample> plan_chunk(std::size_t from) {
    std::vector<PlannedSample> chunk;
    std::size_t launches = 0;
    std::map<std::size_t, std::size_t> used;
    // Pairs stay in one chunk where two arms alternate.
    const std::size_t step = request_.order.size() % 2 == 0 && request_.arms.size() == 2 ? 2 : 1;
    for (std::size_t i = from; i < request_.order.size(); i += step) {
      std::size_t more = 0;
      bool fits = chunk.size() + step <= chunk_samples;
      for (std::size_t k = i; k < i + step; ++k) {
        const std::size_t arm = request_.order[k];
        const auto [batch, slope] = batch_of(arm);
        const std::size_t count = slope ? 3 * batch : 1;
        more += count;
        used[arm] += count;
        // A set's output is checked once per chunk, so each is used once.
        fits = fits && (!request_.flush || used[arm] <= plans_[arm].size());
      }
      fits = fits && launches + more <= chunk_launches;
      if (!chunk.empty() && !fits) break;
      launches += more;
      for (std::size_t k = i; k < i + step; ++k) {
        PlannedSample sample;
        sample.arm = request_.order[k];
        std::tie(sample.batch, sample.slope) = batch_of(sample.arm);
        const std::size_t count = sample.slope ? 3 * sample.batch : 1;
        for (std::size_t n = 0; n < count; ++n) sample.sets.push_back(next_set(sample.arm));
        chunk.push_back(std::move(sample));
      }
    }
    return chunk;
  }

  bool take(const std::vector<PlannedSample>& chunk, std::vector<Sample>& samples) {
    const CUstream stream = gpu_.stream();
    if (request_.prepare)
      for (const auto& [arm, set] : used_sets(chunk)) request_.prepare(arm, set);
    if (rotate_) gpu_.queue_flush();
    gpu_.synchronize("memory could not be prepared");
    driver().ctx_reset_persisting_l2();
    std::vector<std::array<Event, 4>> events(chunk.size());
    for (auto& four : events)
      for (Event& event : four) event = make_event();

    gpu_.close_gate();
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const PlannedSample& sample = chunk[i];
      if (request_.flush && !rotate_) gpu_.queue_flush();
      driver().event_record(events[i][0].get(), stream);
      for (std::size_t n = 0; n < sample.batch; ++n) enqueue(sample.arm, sample.sets[n]);
      driver().event_record(events[i][1].get(), stream);
      if (!sample.slope) continue;
      driver().event_record(events[i][2].get(), stream);
      for (std::size_t n = sample.batch; n < sample.sets.size(); ++n) enqueue(sample.arm, sample.sets[n]);
      driver().event_record(events[i][3].get(), stream);
    }
    const bool held = gpu_.open_gate();

    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const PlannedSample& planned = chunk[i];
      Sample sample;
      sample.arm = planned.arm;
      sample.set = planned.sets.front();
      const double once = elapsed_ms(events[i][0], events[i][1]);
      sample.ms = once / static_cast<double>(planned.batch);
      sample.span_ms = once;
      if (planned.slope) {
        const double twice = elapsed_ms(events[i][2], events[i][3]);
        // Two readings of the clock; a slope below a tenth would be noise alone.
        sample.ms = std::max((twice - once) / static_cast<double>(planned.batch), 0.1 * sample.ms);
        sample.span_ms = 0.5 * once;
      }
      samples.push_back(sample);
    }
    return held;
  }

  static std::set<std::pair<std::size_t, std::size_t>> used_sets(const std::vector<PlannedSample>& chunk) {
    std::set<std::pair<std::size_t, std::size_t>> used;
    for (const PlannedSample& sample : chunk)
      for (const std::size_t set : sample.sets) used.emplace(sample.arm, set);
    return used;
  }

  bool inspect(const std::vector<PlannedSample>& chunk) {
    if (!request_.inspect) return true;
    for (const auto& [arm, set] : used_sets(chunk))
      if (!request_.inspect(arm, set)) return false;
    return true;
  }

  Gpu& gpu_;
  const TimingRequest& request_;
  base::Random random_;
  std::vector<std::vector<PreparedPlan>> plans_;      // by arm and set
  std::vector<std::vector<std::size_t>> orders_;      // of sets, shuffled
  std::vector<std::size_t> cursors_;
  std::map<std::size_t, double> typical_ms_;
  bool rotate_ = false;
};

}  // namespace

std::optional<std::vector<Sample>> Gpu::time(const TimingRequest& request) {
  assert(!request.arms.empty());
  return Timing(*this, request).run();
}

}  // namespace cudal1::cuda
