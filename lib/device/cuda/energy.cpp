// SPDX-License-Identifier: Apache-2.0
#include "cuda/energy.hpp"

#include "cuda/gpu.hpp"
#include "cuda/management.hpp"

#include <algorithm>

namespace cudal1::cuda {

namespace {

constexpr base::Seconds batch{0.005};      // the meter is read between two of them
constexpr base::Seconds patience{2};       // for a meter that stands still
constexpr std::size_t most_in_a_batch = 4096;

}  // namespace

std::optional<double> energy_per_execution(const std::function<void(std::size_t)>& execute, const std::function<std::optional<double>()>& meter,
                                           const std::function<base::Seconds()>& clock, base::Seconds at_least) {
  // How many executions fill a batch; the first one also warms up.
  execute(1);
  const base::Seconds begin = clock();
  execute(4);
  const double each = std::max((clock() - begin).count() / 4, 1e-6);
  const auto size = std::clamp<std::size_t>(static_cast<std::size_t>(batch.count() / each), 1, most_in_a_batch);
  const auto first = meter();
  if (!first) return std::nullopt;
  // From one step of the meter to another, so that its own period is no error.
  std::optional<double> from;
  base::Seconds since = clock();
  double last = *first;
  std::size_t count = 0;
  while (clock() - since < at_least + patience) {
    execute(size);
    count += size;
    const auto now = meter();
    if (!now) return std::nullopt;
    if (*now == last) continue;
    last = *now;
    if (!from) from = now, since = clock(), count = 0;
    else if (clock() - since >= at_least) return (*now - *from) / static_cast<double>(count);
  }
  return std::nullopt;
}

std::optional<double> Gpu::energy_mj(const device::BoundPlan& plan, const std::function<void()>& prepare_buffers, base::Seconds at_least) {
  const Management management(facts_.uuid);
  if (!management.energy_mj()) return std::nullopt;
  PreparedPlan prepared = prepare(plan);
  return energy_per_execution(
      [&](std::size_t count) {
        prepare_buffers();
        for (std::size_t i = 0; i < count; ++i) {
          const PreparedPlan::Failure failure = prepared.enqueue(stream_);
          driver().require(failure.status, failure.step.c_str());
        }
        synchronize("an execution whose energy is measured failed");
      },
      [&] { return management.energy_mj(); }, [] { return base::now(); }, at_least);
}

}  // namespace cudal1::cuda
