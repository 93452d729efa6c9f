// SPDX-License-Identifier: Apache-2.0
#include "judge/beside.hpp"

#include "base/error.hpp"
#include "judge/gpu_lock.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace cudal1::judge {

namespace {

using namespace std::chrono_literals;

constexpr auto turn = 100ms;    // with the GPU, while nobody of this process wants it
constexpr auto pause = 2ms;     // between turns, for other runs of this program

bool compiles(const std::string& baseline) { return baseline.starts_with("compile") || baseline.starts_with("reduce-overhead") || baseline.starts_with("max-autotune"); }

}  // namespace

Beside::Beside(Start start, Module module, std::filesystem::path lock)
    : start_(std::move(start)), module_(std::move(module)), lock_(std::move(lock)), may_use_gpu_(!module_.large),
      thread_([this](const std::stop_token& stop) { make_ready(stop); }) {}

Beside::~Beside() = default;

Beside::Wish Beside::wish() {
  {
    const std::lock_guard lock(mutex_);
    ++wishes_;
  }
  changed_.notify_all();
  return Wish(this);
}

void Beside::leave() {
  {
    const std::lock_guard lock(mutex_);
    --wishes_;
  }
  changed_.notify_all();
}

const Beside::Ready& Beside::ready() {
  {
    const std::lock_guard lock(mutex_);
    may_use_gpu_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  return ready_;
}

void Beside::make_ready(const std::stop_token& stop) {
  try {
    ready_.host = &start_(stop);
  } catch (const base::Error&) {
    return;
  }
  ready_.host->heed(stop);
  try {
    prepare(stop);
  } catch (const std::exception& error) {
    if (ready_.baselines.empty()) ready_.baselines.emplace_back().name = module_.baselines.front();
    ready_.baselines.back().failed = error.what();
  }
  ready_.host->heed({});
}

void Beside::prepare(const std::stop_token& stop) {
  if (std::any_of(module_.baselines.begin(), module_.baselines.end(), compiles)) ready_.host->import_compiler();
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return may_use_gpu_; })) return;
  }
  const std::jthread turns([this](const std::stop_token& finished) { take_turns(finished); });
  ready_.host->hold(module_.name, module_.source);
  for (const std::string& name : module_.baselines) {
    if (name == "best") continue;
    ready_.baselines.emplace_back().name = name;
    ready_.baselines.back() = ready_.host->prepare(name);
  }
}

// A lock that cannot be taken ends the run by its next judging.
void Beside::take_turns(const std::stop_token& finished) try {
  const auto wanted = [this] { return wishes_ > 0; };
  ready_.host->pause(true);
  while (!finished.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, finished, [&] { return !wanted(); })) break;
    }
    {
      const GpuTurn gpu(lock_);
      std::unique_lock lock(mutex_);
      if (!wanted()) {
        ready_.host->pause(false);
        changed_.wait_for(lock, finished, turn, wanted);
        ready_.host->pause(true);
      }
    }
    std::this_thread::sleep_for(pause);
  }
  ready_.host->pause(false);
} catch (const base::Error&) {
  ready_.host->pause(false);
}

}  // namespace cudal1::judge
