// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/state.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::judge {

namespace {

constexpr double idle_utilisation = 0.05;
constexpr base::Seconds longest_shared{1};   // for which a turn is shared before those who take times have theirs

}  // namespace

void Judge::State::watch_gpu() {
  const auto inventory = cuda::inventory();
  const std::size_t index = options.device.starts_with("cuda:") ? std::strtoul(options.device.c_str() + 5, nullptr, 10) : 0;
  if (index >= inventory.devices.size()) return;  // opening it says why
  gpu_uuid = inventory.devices[index].uuid;
  management.emplace(gpu_uuid);
  if (!management->problem().empty()) return warnings.push_back(management->problem());
  if (!options.look_for_tenants) return;
  const auto lock = hold_gpu();  // so that another run of this program is not taken for a stranger at work
  // NVML's figure covers about the last second, in which a program that has ended may have worked.
  double busy = management->utilisation();
  for (int i = 0; i < 15 && busy > idle_utilisation; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    busy = management->utilisation();
  }
  if (busy <= idle_utilisation) return;
  tenants = true;
  const auto who = management->tenants();
  warnings.push_back(fmt::format("something else uses {} % of this GPU{}; times are less certain, and verdicts carry TENANT_SUSPECT",
                                 std::lround(100 * busy), who.empty() ? "" : fmt::format(" ({})", fmt::join(who, "; "))));
}

std::filesystem::path Judge::State::gpu_lock() const { return judge::gpu_lock(gpu_uuid); }

Judge::State::Hold Judge::State::hold_gpu(GpuTurn::Use use) {
  if (gpu_uuid.empty()) return {};
  if (kept.turn && (kept_use == GpuTurn::Use::alone || use == GpuTurn::Use::shared)) return {};
  kept = {};   // or this would wait for itself
  const base::Seconds began = base::now();
  Hold hold;
  if (beside) hold.wish = beside->wish();
  hold.turn = std::make_unique<GpuTurn>(gpu_lock(), use);
  waited += (base::now() - began).count();
  return hold;
}

bool Judge::State::ends_shared(Hold& hold, GpuTurn::Use use) {
  Hold& held = hold.turn ? hold : kept;
  if (!held.turn || (hold.turn ? use : kept_use) == GpuTurn::Use::alone) return false;
  const bool others = held.turn->end_shared();
  held = {};
  return others;
}

Judge::State::Kept::Kept(State& state, GpuTurn::Use use) : state_(state), use_(use) { take(); }

Judge::State::Kept::~Kept() {
  if (own_) state_.kept = {};
}

void Judge::State::Kept::take() {
  Hold hold = state_.hold_gpu(use_);
  since_ = base::now();
  if (!hold.turn) return;
  own_ = true;
  state_.kept = std::move(hold);
  state_.kept_use = use_;
}

void Judge::State::Kept::give_way() {
  if (!own_ || base::now() - since_ < longest_shared) return;
  state_.kept = {};
  take();
}

}  // namespace cudal1::judge
