// SPDX-License-Identifier: Apache-2.0
#include "times.hpp"

#include "libraries.hpp"

#include <cstdlib>

namespace cudal1::runtime {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{4} << 20, alignment = 8;

struct State {
  std::mutex mutex;
  std::map<std::string, Times::Total> totals;
  bool started = false, paused = false;
};
State& state() {
  static auto* const all = new State;
  return *all;
}

void CUPTIAPI hand_out(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, buffer_bytes));
  *bytes = *buffer == nullptr ? 0 : buffer_bytes;
  *most = 0;
}

// Fields up to the name lie where they did in every CUPTI of CUDA 12 and 13.
void CUPTIAPI take_back(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  const std::lock_guard lock(state().mutex);
  while (buffer != nullptr && cupti().next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record->kind != CUPTI_ACTIVITY_KIND_KERNEL) continue;
    const auto* const kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    if (kernel->name == nullptr) continue;
    Times::Total& total = state().totals[kernel->name];
    ++total.launches;
    if (kernel->end > kernel->start) total.ms += static_cast<double>(kernel->end - kernel->start) * 1e-6;
  }
  std::free(buffer);
}

}  // namespace

std::string Times::start() {
  const Cupti& library = cupti();
  if (library.register_activities == nullptr || library.enable_activity == nullptr || library.next_record == nullptr || library.flush == nullptr)
    return "this CUPTI has no activity records";
  state();
  if (const CUptiResult result = library.register_activities(hand_out, take_back); result != CUPTI_SUCCESS) return library.text(result);
  if (const CUptiResult result = library.enable_activity(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); result != CUPTI_SUCCESS) return library.text(result);
  state().started = true;
  return {};
}

void Times::pause() {
  if (!state().started || state().paused || cupti().disable_activity == nullptr) return;
  state().paused = cupti().disable_activity(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
}

void Times::go_on() {
  if (!state().paused) return;
  state().paused = cupti().enable_activity(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS;
}

std::map<std::string, Times::Total> Times::take(bool wait) {
  if (!state().started) return {};
  if (cupti().flush != nullptr) cupti().flush(wait ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : CUPTI_ACTIVITY_FLAG_NONE);
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().totals, {});
}

}  // namespace cudal1::runtime
