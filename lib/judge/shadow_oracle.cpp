// SPDX-License-Identifier: Apache-2.0
#include "judge/shadow_oracle.hpp"

#include "reference/buffers.hpp"
#include "tensor/rounding.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

constexpr int disturbed_runs = 4;
constexpr std::uint64_t most_instructions = 4'000'000;   // warp instructions of a launch: every trial takes six runs
constexpr double least_shadowed = 0.5;                    // of an output's elements

// Of each element the root mean square of what random rounding did to it.
void take_spread(reference::Expected& expected, const std::vector<std::vector<double>>& runs) {
  expected.sigma.assign(expected.truth.size(), 0);
  expected.sampled = true;
  expected.few_runs = runs.size() < static_cast<std::size_t>(reference::enough_runs);
  for (std::size_t k = 0; k < expected.truth.size(); ++k) {
    double squares = 0;
    for (const auto& run : runs) squares += std::isfinite(expected.truth[k]) && std::isfinite(run[k]) ? std::pow(run[k] - expected.truth[k], 2) : 0;
    expected.sigma[k] = std::sqrt(squares / static_cast<double>(runs.size()));
  }
}

// A sum may be taken in any order. Of n terms one accumulator is off by 0.41 u √(n/2 + 2) of their size when it takes them in a
// random one (tensor/rounding.hpp, with s² = Q); their size is the row's where they cancel in one element.
void allow_other_orders(reference::Expected& expected, const std::vector<double>& terms, double most_terms, outcome::Precision precision) {
  const double unit = tensor::rounding_rms * tensor::unit_roundoff(expected.dtype == tensor::Dtype::float64 ? tensor::Dtype::float64 : tensor::Dtype::float32);
  const double operands = expected.dtype == tensor::Dtype::float64 ? 0 : outcome::operand_roundoff(precision);
  const double product = operands > tensor::unit_roundoff(tensor::Dtype::float32) ? operands : 0;
  const std::size_t row = expected.shape.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(expected.shape.back()));
  for (std::size_t from = 0; from < expected.truth.size(); from += row) {
    double squares = 0;
    for (std::size_t k = from; k < from + row; ++k) squares += std::isfinite(expected.truth[k]) ? expected.truth[k] * expected.truth[k] : 0;
    const double size = std::sqrt(squares / static_cast<double>(row));
    for (std::size_t k = from; k < from + row; ++k) {
      if (!std::isfinite(expected.truth[k])) continue;
      const double n = std::clamp(terms[k], 1.0, std::min(most_terms, tensor::longest_accumulation));
      const double floor = std::max(unit * std::sqrt(n / 2 + 2), n > 1 ? product : 0);
      expected.sigma[k] = std::max(expected.sigma[k], floor * (n > 1 ? std::max(size, std::fabs(expected.truth[k])) : std::fabs(expected.truth[k])));
    }
  }
}

}  // namespace

ShadowOracle::ShadowOracle(const task::Task& task, const outcome::Binary& reference, std::uint64_t seed)
    : task_(task), random_(seed, 23), simulator_(sim::open({.gpu = "H200", .threads = 0, .seed = seed})) {
  if (reference.ptx.empty()) {
    problem_ = "there is no PTX of the task's own kernel";
    return;
  }
  auto module = simulator_->load(reference);
  if (module) module_ = *std::move(module);
  else problem_ = fmt::format("the simulator cannot run the task's own kernel: {}", module.error().message);
}

std::optional<std::vector<reference::Expected>> ShadowOracle::truth(const task::Workload& workload, const kernel::Plan& plan,
                                                                    const std::vector<reference::Bytes>& inputs, outcome::Precision precision) {
  if (!problem_.empty()) return std::nullopt;
  reference::Buffers buffers(*simulator_, plan, random_);
  buffers.load(inputs);
  const auto run = [&](sim::ShadowMode mode) {
    buffers.restore_inouts();
    buffers.poison(reference::Buffers::Fill::nan);
    return sim::run_shadowed(*simulator_, buffers.bind(*module_), mode, random_.next(), most_instructions);
  };
  const sim::ShadowRun exact = run(sim::ShadowMode::exact);
  if (exact.result.status != device::RunResult::Status::ok) {
    problem_ = exact.result.status == device::RunResult::Status::timeout
                   ? fmt::format("{} takes too long to execute with shadows (name smaller sizes with a check line)", workload.label())
                   : fmt::format("the task's own kernel does not run on the simulator: {}", exact.result.message);
    return std::nullopt;
  }
  std::vector<sim::ShadowRun> disturbed;
  for (int k = 0; k < disturbed_runs; ++k) disturbed.push_back(run(sim::ShadowMode::disturbed));
  const sim::ShadowRun terms = run(sim::ShadowMode::terms);
  const double most_terms = reference::reduction_length(task_, workload);

  std::vector<reference::Expected> result = reference::outputs(task_, workload);
  std::size_t next = 0;
  for (std::size_t i = 0; i < task_.file.buffers.size(); ++i) {
    if (task_.file.buffers[i].role == kernel::Buffer::Role::input) continue;
    reference::Expected& expected = result[next++];
    if (static_cast<double>(exact.outputs[i].shadowed) < least_shadowed * static_cast<double>(exact.outputs[i].values.size()) || exact.outputs[i].values.empty()) continue;
    expected.truth = exact.outputs[i].values;
    std::vector<std::vector<double>> runs;
    for (sim::ShadowRun& one : disturbed) runs.push_back(std::move(one.outputs[i].values));
    take_spread(expected, runs);
    allow_other_orders(expected, terms.outputs[i].values, most_terms, precision);
    figures.outputs += static_cast<double>(expected.truth.size());
    figures.shadowed += static_cast<double>(exact.outputs[i].shadowed);
  }
  figures.turned += static_cast<double>(exact.turned);
  return result;
}

std::string ShadowOracle::why_not() const {
  if (!problem_.empty()) return problem_;
  if (figures.outputs == 0) return "none of its outputs is computed from floats";
  return figures.refuted > 0 ? "its kernel's results in double precision are far from its ordinary results" : "";
}

std::string ShadowOracle::note() const {
  std::string text = "the task's own kernel in double precision on the simulator";
  if (figures.shadowed < figures.outputs) text += fmt::format(", of {:.3g} % of the outputs", std::floor(1000 * figures.shadowed / figures.outputs) / 10);
  if (figures.turned > 0)
    text += fmt::format("; {:.0f} comparison{} of floats would come out differently without rounding, so it is less certain", figures.turned,
                        figures.turned == 1 ? "" : "s");
  if (figures.refuted > 0) text += fmt::format("; {:.0f} output{} far from that {} compared with the kernel's ordinary result{}", figures.refuted, figures.refuted == 1 ? "" : "s", figures.refuted == 1 ? "is" : "are",
                                               figures.refuted == 1 ? "" : "s");
  return text;
}

}  // namespace cudal1::judge
