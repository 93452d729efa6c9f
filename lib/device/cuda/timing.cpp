// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/defence.hpp"
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
constexpr double slope_beside_ms = 0.5;       // and so is what they are compared with, unless events are a trifle to it
constexpr std::size_t chunk_samples = 10, chunk_launches = 64;
constexpr int empty_samples = 9;
constexpr std::size_t empty_steps = 3;        // of a plan without work, at most
constexpr std::size_t rotation_limit = 5;     // times the L2 cache that a rotation through the sets must exceed
constexpr std::size_t rotation_sets = 24;     // fewer, and where each lies would not average out
constexpr base::Seconds warm_up{0.025};
constexpr base::Seconds stays_warm{0.1};      // clocks do not fall within it
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
    // The same form for every arm: a graph's launches follow each other faster than a stream's.
    bool graphs = false;
    for (const device::Arm& arm : request.arms) {
      auto& plans = plans_.emplace_back();
      for (const device::BoundPlan& set : arm.sets) plans.push_back(gpu.prepare(set));
      graphs = graphs || (!plans.empty() && plans.front().steps() > 1);
    }
    order_ = shuffled(request.arms.front().sets.size());
    // Where the driver puts a graph changes its time, so no arm's graphs are all made first.
    for (std::size_t set = 0; graphs && set < order_.size(); ++set)
      for (const std::size_t arm : shuffled(plans_.size()))
        driver().require(plans_[arm][set].make_graph(gpu.stream()), "cannot make a graph of the plan");
    for (const device::Arm& arm : request.arms)
      for (const kernel::PlanBuffer& buffer : arm.sets.front().plan->buffers) accumulates_ = accumulates_ || buffer.role == kernel::PlanBuffer::Role::inout;
    std::size_t bytes = 0;
    for (const device::BoundPlan& set : request.arms.front().sets)
      for (const device::Region& region : set.buffers) bytes += region.bytes;
    rotate_ = request.flush && order_.size() >= rotation_sets && bytes > (rotation_limit - 1) * gpu.facts().l2_bytes;
  }

  std::vector<Sample> run() {
    calibrate();
    if (std::any_of(typical_ms_.begin(), typical_ms_.end(), [&](const auto& one) { return batch_of(one.first).second; })) measure_empty();
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
      gpu_.last_timed = base::now();
      if (!inspect(chunk)) break;
    }
    return samples;
  }

 private:
  std::vector<std::size_t> shuffled(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    return order;
  }

  void enqueue(std::size_t arm, std::size_t set) {
    const PreparedPlan::Failure failure = plans_[arm][set].enqueue(gpu_.stream());
    driver().require(failure.status, failure.step.c_str());
  }

  // Warms the clocks up and finds about how long each arm takes; without the gate, so that what a first call does
  // cannot meet it.
  void calibrate() {
    const std::set<std::size_t> used(request_.order.begin(), request_.order.end());
    const base::Seconds begin = base::now();
    // Arms take turns, each on memory that the one before it did not leave in the cache: what comes out sets how long
    // the batches of each are.
    const std::vector<std::size_t> arms(used.begin(), used.end());
    std::size_t next = 0;
    for (int i = 0; i < 4; ++i)
      for (const std::size_t turn : shuffled(arms.size())) {
        const std::size_t arm = arms[turn];
        const std::size_t set = order_[next++ % order_.size()];
        if (request_.prepare) request_.prepare(arm, set);
        const Event start = make_event();
        const Event stop = make_event();
        driver().event_record(start.get(), gpu_.stream());
        enqueue(arm, set);
        driver().event_record(stop.get(), gpu_.stream());
        gpu_.synchronize("a timed execution failed");
        const double ms = elapsed_ms(start, stop);
        double& best = typical_ms_[arm];
        if (i > 0 && (best == 0 || ms < best)) best = ms;
      }
    const std::size_t first = *used.begin();
    const bool warm = begin - gpu_.last_timed < stays_warm;
    while (!warm && base::now() - begin < warm_up) {
      const auto count = static_cast<std::size_t>(std::clamp(2.0 / std::max(typical_ms_[first], 1e-3), 1.0, 200.0));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t set = order_[i % order_.size()];
        if (accumulates_ && request_.prepare) request_.prepare(first, set);
        enqueue(first, set);
      }
      gpu_.synchronize("a timed execution failed");
    }
  }

  // What the clock's events, a launch and the first way to the GPU take around a plan without work, in the form that the arms have.
  void measure_empty() {
    const std::size_t steps = plans_.front().empty() ? 1 : plans_.front().front().steps();
    PreparedPlan nothing = gpu_.prepare_nothing(std::min(steps, empty_steps));
    if (plans_.front().front().is_graph()) driver().require(nothing.make_graph(gpu_.stream()), "cannot make a graph of a plan without work");
    std::vector<double> spans;
    std::array<std::array<Event, 2>, empty_samples> events;
    for (auto& pair : events)
      for (Event& event : pair) event = make_event();
    gpu_.close_gate();
    for (const auto& pair : events) {
      driver().event_record(pair[0].get(), gpu_.stream());
      driver().require(nothing.enqueue(gpu_.stream()).status, "cannot launch the tool's own kernel");
      driver().event_record(pair[1].get(), gpu_.stream());
    }
    gpu_.open_gate();
    for (const auto& pair : events) spans.push_back(elapsed_ms(pair[0], pair[1]));
    std::nth_element(spans.begin(), spans.begin() + empty_samples / 2, spans.end());
    empty_ms_ = spans[empty_samples / 2];
  }

  // How many launches make a sample of an arm long enough, as far as there are sets for them.
  std::pair<std::size_t, bool> batch_of(std::size_t arm) const {
    if (!request_.flush && accumulates_) return {1, false};
    const double typical = typical_ms_.at(arm);
    const bool all_long = std::all_of(typical_ms_.begin(), typical_ms_.end(), [](const auto& one) { return one.second >= slope_below_ms; });
    if (all_long || typical >= slope_beside_ms || (request_.flush && !rotate_)) return {1, false};
    auto batch = static_cast<std::size_t>(std::ceil(ticks_per_sample * gpu_.tick_ms() / std::max(typical, 1e-4)));
    batch = std::clamp<std::size_t>(batch, 1, chunk_launches / 6);
    if (!request_.flush) return {batch, true};
    return {std::min(batch, order_.size() / 6), true};
  }

  // A set's number names the same memory in every arm, so no set is drawn twice in a rotated chunk.
  std::size_t next_set() {
    if (!request_.flush) return order_.front();   // hot: always the same memory
    return order_[cursor_++ % order_.size()];
  }

  std::vector<PlannedSample> plan_chunk(std::size_t from) {
    std::vector<PlannedSample> chunk;
    std::size_t launches = 0;
    // Pairs stay in one chunk where two arms alternate.
    const std::size_t step = request_.order.size() % 2 == 0 && request_.arms.size() == 2 ? 2 : 1;
    const std::size_t whole_chunk = next_set();
    for (std::size_t i = from; i < request_.order.size(); i += step) {
      std::size_t more = 0;
      for (std::size_t k = i; k < i + step; ++k) more += launches_of(request_.order[k]);
      const bool fits = chunk.size() + step <= chunk_samples && launches + more <= chunk_launches &&
                        (!rotate_ || launches + more <= order_.size());
      if (!chunk.empty() && !fits) break;
      launches += more;
      // Where each sample begins with a flush, both arms of a pair run on the same memory: where it lies changes a
      // kernel's time by several percent.
      const std::size_t same = step == 2 ? next_set() : whole_chunk;
      for (std::size_t k = i; k < i + step; ++k) {
        PlannedSample sample;
        sample.arm = request_.order[k];
        std::tie(sample.batch, sample.slope) = batch_of(sample.arm);
        for (std::size_t n = 0; n < launches_of(sample.arm); ++n) sample.sets.push_back(rotate_ ? next_set() : same);
        chunk.push_back(std::move(sample));
      }
    }
    return chunk;
  }

  std::size_t launches_of(std::size_t arm) const {
    const auto [batch, slope] = batch_of(arm);
    return slope ? 3 * batch : 1;
  }

  bool take(const std::vector<PlannedSample>& chunk, std::vector<Sample>& samples) {
    const CUstream stream = gpu_.stream();
    const bool prepare_each = request_.flush ? !rotate_ : accumulates_;
    if (request_.prepare && !prepare_each)
      for (const auto& [set, arm] : last_users(chunk)) request_.prepare(arm, set);
    if (rotate_) gpu_.queue_flush();
    gpu_.synchronize("memory could not be prepared");
    driver().ctx_reset_persisting_l2();
    std::vector<std::array<Event, 4>> events(chunk.size());
    for (auto& four : events)
      for (Event& event : four) event = make_event();

    gpu_.close_gate();
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const PlannedSample& sample = chunk[i];
      if (prepare_each) {
        if (request_.prepare) request_.prepare(sample.arm, sample.sets.front());
        if (request_.flush) gpu_.queue_flush();
      } else if (rotate_ && !sample.slope) {
        gpu_.queue_flush();  // what the other arm left in the cache must not slow this one; in a slope it would drop out
      }
      driver().event_record(events[i][0].get(), stream);
      for (std::size_t n = 0; n < sample.batch; ++n) enqueue(sample.arm, sample.sets[n]);
      driver().event_record(events[i][1].get(), stream);
      if (!sample.slope) continue;
      driver().event_record(events[i][2].get(), stream);
      for (std::size_t n = sample.batch; n < sample.sets.size(); ++n) enqueue(sample.arm, sample.sets[n]);
      driver().event_record(events[i][3].get(), stream);
    }
    const Gpu::GateReading gate = gpu_.open_gate();

    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const PlannedSample& planned = chunk[i];
      Sample sample;
      sample.arm = planned.arm;
      sample.set = planned.sets.front();
      const double once = elapsed_ms(events[i][0], events[i][1]);
      sample.ms = once / static_cast<double>(planned.batch);
      sample.span_ms = once;
      sample.clock_hz = gate.clock_hz;
      sample.stall_ms = gate.stall_ms;
      if (planned.slope) {
        const double twice = elapsed_ms(events[i][2], events[i][3]);
        // A variant that dawdles only at the start of a sample makes the shorter batch long, and with it the slope small. What the
        // longer batch took must be its launches, but for what a sample without work takes.
        const double launches = static_cast<double>(planned.batch);
        const double least = base::defended(base::Defence::slope) ? (twice - empty_ms_) / (2 * launches) : 0.1 * sample.ms;
        sample.ms = std::max((twice - once) / launches, least);
        sample.span_ms = 0.5 * once;
        sample.slope = true;
      }
      samples.push_back(sample);
    }
    return gate.held;
  }

  // The arm that each set was last used by: the one whose outputs stand in it.
  static std::map<std::size_t, std::size_t> last_users(const std::vector<PlannedSample>& chunk) {
    std::map<std::size_t, std::size_t> users;
    for (const PlannedSample& sample : chunk)
      for (const std::size_t set : sample.sets) users[set] = sample.arm;
    return users;
  }

  bool inspect(const std::vector<PlannedSample>& chunk) {
    if (!request_.inspect) return true;
    for (const auto& [set, arm] : last_users(chunk))
      if (!request_.inspect(arm, set)) return false;
    return true;
  }

  Gpu& gpu_;
  const TimingRequest& request_;
  base::Random random_;
  std::vector<std::vector<PreparedPlan>> plans_;      // by arm and set
  std::vector<std::size_t> order_;                    // of sets, shuffled
  std::size_t cursor_ = 0;
  std::map<std::size_t, double> typical_ms_;
  bool rotate_ = false;
  bool accumulates_ = false;   // what a run leaves is where the next one begins: a list that is appended to would outgrow its buffer
  double empty_ms_ = 0;                               // a sample without work, once it was measured
};

}  // namespace

std::optional<std::vector<Sample>> Gpu::time(const TimingRequest& request) {
  assert(!request.arms.empty());
  return Timing(*this, request).run();
}

}  // namespace cudal1::cuda
