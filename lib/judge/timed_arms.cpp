// SPDX-License-Identifier: Apache-2.0
#include "judge/timed_arms.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using reference::Buffers;

// Full comparisons of one job before those of outputs whose bits differ from run to run become a random eighth.
constexpr int comparison_limit = 24;

std::size_t set_count(const device::Device& device, const kernel::Plan& plan, std::size_t versions, std::size_t limit) {
  std::size_t bytes = 1;
  for (const auto& buffer : plan.buffers) bytes += buffer.bytes;
  const std::size_t rotation = 5 * device.facts().l2_bytes / bytes + 2;
  const std::size_t fitting = std::max<std::size_t>(1, device.facts().memory_bytes / 8 / bytes);
  return std::max(versions, std::min({rotation, limit, fitting}));
}

}  // namespace

TimedReference::TimedReference(device::Device& device, const verify::Program& timed,
                               std::vector<const verify::Case*> full_cases, base::Random& random, std::size_t set_limit)
    : cases(std::move(full_cases)), program(timed) {
  for (const verify::Case* subject : cases) {
    pristine.push_back(std::make_unique<Buffers>(device, *program.plan, random));
    pristine.back()->load(subject->inputs);
  }
  const std::size_t count = set_count(device, *program.plan, cases.size(), set_limit);
  for (std::size_t i = 0; i < count; ++i) {
    sets.push_back(std::make_unique<Buffers>(device, *program.plan, random));
    sets.back()->load(*pristine[i % pristine.size()]);
  }
  // Taken before any variant runs, from executions that nothing else could touch.
  for (std::size_t version = 0; version < cases.size(); ++version) {
    sets[version]->poison(Buffers::Fill::nan);
    const device::BoundPlan bound = sets[version]->bind(*program.module);
    const device::RunResult result = device.run(bound, {false, 0});
    digests.push_back(result.status == device::RunResult::Status::ok ? output_digest(device, bound) : 0);
    sets[version]->restore_inouts();
  }
}

std::uint64_t output_digest(device::Device& device, const device::BoundPlan& plan) {
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const auto role = plan.plan->buffers[i].role;
    if (role == kernel::PlanBuffer::Role::output || role == kernel::PlanBuffer::Role::inout)
      digest = digest * 0x9e3779b97f4a7c15 + device.digest(plan.buffers[i]);
  }
  return digest;
}

TimedArms::TimedArms(device::Device& device, const kernel::File& task, TimedReference& reference,
                     std::vector<verify::Program> variants, base::Random& random)
    : device_(device), task_(task), reference_(reference), variants_(std::move(variants)), random_(random) {
  const std::size_t count = variants_.size() == 1 ? reference.sets.size() : reference.pristine.size();
  for (const verify::Program& variant : variants_) {
    auto& sets = sets_.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      sets.push_back(std::make_unique<Buffers>(device, *variant.plan, random, *reference.sets[i]));
  }
}

Buffers& TimedArms::buffers(std::size_t arm, std::size_t set) {
  return arm == 0 ? *reference_.sets[set] : *sets_[arm - 1][set];
}

std::vector<device::Sample> TimedArms::run(const std::vector<std::size_t>& order, bool cold, std::uint64_t seed) {
  device::TimingRequest request;
  const std::size_t count = sets_.empty() ? reference_.sets.size() : sets_.front().size();
  device::Arm reference_arm;
  for (std::size_t i = 0; i < count; ++i)
    reference_arm.sets.push_back(reference_.sets[i]->bind(*reference_.program.module));
  request.arms.push_back(std::move(reference_arm));
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    device::Arm arm;
    for (const auto& set : sets_[i]) arm.sets.push_back(set->bind(*variants_[i].module));
    request.arms.push_back(std::move(arm));
  }
  request.order = order;
  request.flush = cold;
  request.seed = seed;
  std::vector<std::pair<std::size_t, std::size_t>> used;
  request.prepare = [&](std::size_t arm, std::size_t set) {
    buffers(arm, set).poison(Buffers::Fill::nan);
    buffers(arm, set).restore_inouts();
    if (arm != 0) used.emplace_back(arm, set);
  };
  request.inspect = [&](std::size_t arm, std::size_t set) { return arm == 0 || inspect(arm, set); };
  auto samples = device_.time(request);

  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const auto& [arm, set] : used) {
    if (evidence_.fault) break;
    verify::Evidence after;
    after.message = buffers(arm, set).damage();
    if (!after.message.empty()) after.fault = outcome::Verdict::tampered;
    evidence_.merge(std::move(after));
  }
  return samples ? *std::move(samples) : std::vector<device::Sample>{};
}

// The reference's outputs are right by definition, so a variant whose bits are the same needs no comparison.
bool TimedArms::inspect(std::size_t arm, std::size_t set) {
  const std::size_t version = set % reference_.cases.size();
  const verify::Program& variant = variants_[arm - 1];
  const std::uint64_t digest = output_digest(device_, buffers(arm, set).bind(*variant.module));
  auto& known = verified_[version];
  if (known.empty()) known.push_back(reference_.digests[version]);
  if (std::find(known.begin(), known.end(), digest) != known.end()) return true;
  if (++compared_ > comparison_limit && random_.below(8) != 0) return true;
  verify::Evidence one =
      verify::compare_outputs(task_, buffers(arm, set), *variant.plan, *reference_.cases[version]);
  if (one.fault) one.message += fmt::format(", in an execution that was timed");
  else known.push_back(digest);
  evidence_.merge(std::move(one));
  return !evidence_.fault;
}

}  // namespace cudal1::judge
