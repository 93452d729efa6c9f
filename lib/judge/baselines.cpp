// SPDX-License-Identifier: Apache-2.0
#include "bench/limit.hpp"
#include "bench/order.hpp"
#include "judge/pytorch_turns.hpp"
#include "judge/state.hpp"
#include "judge/timed_arms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

// A PyTorch module's own times, which variants are compared with: eager, and as torch.compile makes it.
namespace cudal1::judge {

// Compiling a network takes half a minute, in which others may have the GPU: what it chooses by times is chosen when it is prepared.
void Judge::State::compile_baselines() {
  const Step step(*this, "torch.compile");
  const auto compiled = [](const std::string& name) { return name.starts_with("compile") || name.starts_with("reduce-overhead"); };
  if (std::none_of(options.baselines.begin(), options.baselines.end(), compiled)) return;
  with_pytorch([&](pytorch::Host& pytorch) { pytorch.make_ahead(options.baselines); });
  options.pytorch->compile_ahead();
}

// Every baseline made ready and timed; the one that the variants are compared with comes first.
void Judge::State::time_baselines(ReferenceFacts& result) {
  const Step step(*this, "baselines");
  std::vector<std::string> names = options.baselines;
  const bool best = !names.empty() && names.front() == "best";
  if (best) names.erase(names.begin());
  if (auto filled = fill_versions(host); !filled) throw base::Error(base::Fault::no_device, filled.error().message);
  const pytorch::Comparison first = compare(0, lent.versions.front());   // for what PyTorch says of itself
  if (!first.finite) throw base::Error(base::Fault::bad_task, fmt::format("{}: the expected outputs are not finite", task.file.name));
  result.note = first.precision;
  result.judgement.errors.reference_relative_l2 = first.errors.reference_relative_l2;
  std::vector<outcome::BaselineTiming> baselines;
  std::map<std::string, std::vector<device::Sample>> samples;
  const auto usable = [](const outcome::BaselineTiming& each) { return each.failed.empty(); };
  with_pytorch([&](pytorch::Host& pytorch) {
    for (const std::string& name : names) baselines.push_back(pytorch.prepare(name));
    base::Seconds began = base::now();
    for (std::size_t taken = 0; wants_first_samples(taken, base::now() - began); taken += pytorch_turn) {
      std::vector<std::string> order;
      for (std::size_t i = 0; i < pytorch_turn; ++i)
        for (const std::size_t index : shuffled(baselines.size(), random))
          if (usable(baselines[index])) order.push_back(baselines[index].name);
      const pytorch::Host::Times times = pytorch.time(order, order.empty() ? "" : std::find_if(baselines.begin(), baselines.end(), usable)->name);
      for (std::size_t i = 0; i < order.size(); ++i)
        if (!std::isnan(times.ms[i])) samples[order[i]].push_back({0, 0, times.ms[i], times.ms[i]});
      for (outcome::BaselineTiming& each : baselines)
        if (const auto failed = times.failed.find(each.name); failed != times.failed.end()) each.failed = failed->second;
      if (taken == 0) began = base::now();   // what begins only once counts for nothing
    }
  }, GpuTurn::Use::alone);
  for (outcome::BaselineTiming& each : baselines)
    if (usable(each)) each.ms = bench::median_ms(samples[each.name], 0);
  auto chosen = std::find_if(baselines.begin(), baselines.end(), usable);
  if (chosen == baselines.end())
    throw base::Error(base::Fault::bad_task, fmt::format("{}: PyTorch cannot be timed: {}", task.file.name,
                                                          baselines.empty() ? "no --baseline is given" : baselines.front().failed));
  for (auto each = chosen; best && each != baselines.end(); ++each)
    if (usable(*each) && each->ms < chosen->ms) chosen = each;
  chosen_baseline = chosen->name;
  ReferenceFacts::Time time;
  time.workload = task.workloads.front().label();
  time.ms = chosen->ms;
  time.speed_of_light_ms = bench::limit(task.necessary_bytes(0), task.written_operations(0), facts).memory_ms;
  outcome::WorkloadTiming here = timing(0, time.ms, time.ms, bench::Estimate{});
  time.limited_by = here.limited_by;
  result.judgement.workloads.push_back(std::move(here));
  result.times.push_back(std::move(time));
  result.judgement.message = fmt::format("the PyTorch module, {}", chosen_baseline);
  if (!best && chosen != baselines.begin())
    result.judgement.message += fmt::format(" ({} cannot be had: {})", baselines.front().name, baselines.front().failed);
  result.judgement.baselines = std::move(baselines);
}

}  // namespace cudal1::judge
