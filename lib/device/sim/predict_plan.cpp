// SPDX-License-Identifier: Apache-2.0
#include "sim/predict.hpp"
#include "sim/sim_device.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::sim {

// One profile for each launch of the plan; a memset has its time already.
tl::expected<std::vector<PlanPart>, device::RunResult> SimDevice::profile(const device::BoundPlan& plan) {
  using Status = device::RunResult::Status;
  const auto* module = dynamic_cast<const LoadedModule*>(plan.module);
  const auto fail = [](Status status, const std::string& message) {
    device::RunResult result;
    result.status = status;
    result.message = message;
    return tl::unexpected(result);
  };
  std::vector<PlanPart> parts;
  initialise_scratch(plan);
  for (const kernel::PlanBuffer& buffer : plan.plan->buffers)  // each is filled at the beginning of every execution
    if (buffer.initial && buffer.bytes > 0) parts.push_back({std::nullopt, memset_seconds(static_cast<double>(buffer.bytes), facts_)});
  for (const kernel::PlanStep& step : plan.plan->steps) {
    if (const auto* fill = std::get_if<kernel::Memset>(&step)) {
      memset(plan, *fill);
      parts.push_back({std::nullopt, memset_seconds(static_cast<double>(plan.buffers.at(fill->buffer).bytes), facts_)});
      continue;
    }
    if (const auto* filled_variable = std::get_if<kernel::Copy>(&step)) {
      if (const auto done = copy(plan, *filled_variable); !done) return fail(Status::runtime_failed, done.error());
      parts.push_back({std::nullopt, memset_seconds(static_cast<double>(plan.buffers.at(filled_variable->buffer).bytes), facts_)});
      continue;
    }
    const auto& wanted = std::get<kernel::Launch>(step);
    const LoadedModule::Kernel* kernel = module ? module->kernel(wanted.kernel) : nullptr;
    if (!kernel) return fail(Status::runtime_failed, fmt::format("the binary has no kernel {}", wanted.kernel));
    Launch launch;
    if (const auto bound = bind(plan, wanted, *kernel, launch); !bound) return fail(Status::runtime_failed, bound.error());
    launch.file = module->file;
    launch.report_unwritten = false;
    launch.budget = default_budget;
    launch.counts_spins = true;
    place_parameters(launch);
    parts.push_back({profile(*kernel, launch), 0});
    parts.back().dependent = dependent(kernel->program);
    if (launch.timed_out) return fail(Status::timeout, fmt::format("{} ran more than {} warp instructions without an end", wanted.kernel, launch.budget));
  }
  return parts;
}

std::optional<tl::expected<device::Prediction, device::RunResult>> SimDevice::predict(const device::BoundPlan& plan) {
  auto parts = profile(plan);
  if (!parts) return tl::unexpected(std::move(parts.error()));
  device::Prediction prediction;
  prediction.log_error = compared(facts_) ? compared_log_error : uncompared_log_error;
  // Blocks run more than once: with memory that something else filled, a step of its own in `parts`, they may add to it twice.
  prediction.comparable = parts->size() == 1 && parts->front().launch &&
                          std::none_of(plan.plan->buffers.begin(), plan.plan->buffers.end(), [](const kernel::PlanBuffer& buffer) { return buffer.role == kernel::PlanBuffer::Role::inout; });
  double longest = 0, active_seconds = 0, warps_active = 0, issue_active = 0;
  for (const PlanPart& part : *parts) {
    prediction.ms += 1e3 * part.seconds;
    if (!part.launch) continue;
    prediction.comparable = prediction.comparable && !part.dependent;
    const PredictedLaunch one = sim::predict(*part.launch, facts_);
    prediction.ms += 1e3 * one.seconds;
    if (one.seconds > longest) longest = one.seconds, prediction.limited_by = one.limited_by;
    prediction.counters += part.launch->counters;
    for (const auto& [line, counters] : part.launch->lines) prediction.lines[line] += counters;
    active_seconds += one.active_seconds;
    warps_active += one.active_seconds * one.warps_active, issue_active += one.active_seconds * one.issue_active;
  }
  if (active_seconds > 0)
    prediction.shares = {{"warps_active_share", warps_active / active_seconds}, {"issue_active_share", issue_active / active_seconds}};
  return prediction;
}

}  // namespace cudal1::sim
