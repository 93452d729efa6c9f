// SPDX-License-Identifier: Apache-2.0
#include "judge/timed_arms.hpp"

#include "base/defence.hpp"
#include "judge/watched_device.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace cudal1::judge {

namespace {

using reference::Buffers;

// Full comparisons of one job before those of outputs whose bits differ from run to run become a random third.
constexpr int comparison_limit = 24;
constexpr std::size_t set_limit = 512;
constexpr std::size_t most_rotated = 2;   // variants with sets of their own in number; a race has many

std::size_t set_count(const device::Device& device, const kernel::Plan& plan, std::size_t versions) {
  std::size_t bytes = 1;
  for (const auto& buffer : plan.buffers) bytes += buffer.bytes;
  const std::size_t rotation = 5 * device.facts().l2_bytes / bytes + 2;
  const std::size_t fitting = std::max<std::size_t>(1, device.facts().memory_bytes / 8 / bytes);
  return std::max(versions, std::min({rotation, set_limit, fitting}));
}

}  // namespace

TimedReference::TimedReference(device::Device& device, const verify::Program& program,
                               std::vector<const verify::Case*> full_cases, base::Random& random)
    : cases(std::move(full_cases)), plan(program.plan) {
  for (const verify::Case* subject : cases) {
    owned.push_back(std::make_unique<Buffers>(device, *plan, random));
    owned.back()->load(subject->inputs);
    pristine.push_back(owned.back().get());
  }
  lay_out(device, random);
  // Taken before any variant runs, from executions that nothing else could touch.
  for (std::size_t version = 0; version < cases.size(); ++version) {
    sets[version]->poison(Buffers::Fill::nan);
    const device::BoundPlan bound = sets[version]->bind(*program.module);
    const device::RunResult result = device.run(bound, {false, 0});
    auto& known = right.emplace_back();
    if (result.status == device::RunResult::Status::ok) known.push_back(output_digest(device, bound));
    sets[version]->restore_inouts();
  }
}

TimedReference::TimedReference(device::Device& device, const kernel::Plan& interface, LentSets& the_lent, base::Random& random)
    : lent(&the_lent), plan(&interface) {
  for (std::size_t i = 0; i < lent->count(); ++i) pristine.push_back(&lent->set(i));
  right.resize(pristine.size());
  lay_out(device, random);
}

void TimedReference::lay_out(device::Device& device, base::Random& random) {
  sets.clear();
  if (lent != nullptr && lent->tight()) {
    sets.push_back(std::make_unique<Buffers>(device, *plan, random, lent->set(0)));
    return;
  }
  const std::size_t count = set_count(device, *plan, pristine.size());
  for (std::size_t i = 0; i < count; ++i) {
    sets.push_back(std::make_unique<Buffers>(device, *plan, random));
    sets.back()->load(*pristine[i % pristine.size()]);
  }
}

std::vector<std::size_t> shuffled(std::size_t count, base::Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
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
                     const device::Module& module, std::vector<verify::Program> variants, base::Random& random)
    : device_(device), task_(task), reference_(reference), module_(module), variants_(std::move(variants)),
      random_(random) {
  // Scratch memory is each arm's own; none may get the better places by coming first.
  const std::size_t count = variants_.size() <= most_rotated ? reference.sets.size() : reference.pristine.size();
  sets_.resize(variants_.size() + 1);
  for (std::size_t i = 0; i < count; ++i) {
    for (auto& sets : sets_) sets.emplace_back();
    for (const std::size_t arm : shuffled(sets_.size(), random)) {
      const kernel::Plan& plan = arm == 0 ? *reference.plan : *variants_[arm - 1].plan;
      sets_[arm][i] = std::make_unique<Buffers>(device, plan, random, *reference.sets[i]);
    }
  }
}

std::vector<device::Sample> TimedArms::run(const std::vector<std::size_t>& order, bool cold, std::uint64_t seed, bool sparing) {
  sparing_ = sparing;
  device::TimingRequest request;
  for (std::size_t arm = 0; arm < sets_.size(); ++arm) {
    auto& sets = request.arms.emplace_back().sets;
    for (const auto& set : sets_[arm]) sets.push_back(set->bind(arm == 0 ? module_ : *variants_[arm - 1].module));
  }
  request.order = order;
  request.flush = cold;
  request.seed = seed;
  std::vector<std::pair<std::size_t, std::size_t>> used;
  request.prepare = [&](std::size_t arm, std::size_t set) {
    if (base::defended(base::Defence::timed_poison)) sets_[arm][set]->poison(Buffers::Fill::nan);
    sets_[arm][set]->restore_inouts();
    if (arm != 0) used.emplace_back(arm, set);
  };
  request.inspect = [&](std::size_t arm, std::size_t set) { return arm == 0 || inspect(arm, set); };
  auto samples = device_.time(request);

  for (std::size_t arm = 1; arm < sets_.size() && !evidence_.fault; ++arm) look_for_state(arm);
  if (unseen_) compare(unseen_->first, unseen_->second);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const auto& [arm, set] : used) {
    if (evidence_.fault) break;
    verify::Evidence after;
    after.message = sets_[arm][set]->damage();
    if (!after.message.empty()) after.fault = outcome::Verdict::tampered;
    evidence_.merge(std::move(after));
  }
  return samples ? *std::move(samples) : std::vector<device::Sample>{};
}

bool TimedArms::show(std::size_t arm, std::size_t set, std::uint64_t digest) {
  if (sparing_ && random_.below(8) != 0) return true;
  const std::size_t version = set % reference_.pristine.size();
  reference_.lent->publish(version, *sets_[arm][set]);
  unknown_ = TimeReply::Unknown{version, digest};
  return false;
}

// Between samples, not in them: a module without variables costs nothing.
void TimedArms::look_for_state(std::size_t arm) {
  if (!base::defended(base::Defence::state)) return;
  const std::string changed = device_.changed_variable(*variants_[arm - 1].module);
  if (changed.empty()) return;
  verify::Evidence found;
  found.fault = outcome::Verdict::stateful;
  found.message = changed_message(changed);
  evidence_.merge(std::move(found));
}

// Outputs whose bits were right before, in the reference's hands or in any variant's, need no comparison.
bool TimedArms::inspect(std::size_t arm, std::size_t set) {
  look_for_state(arm);
  if (evidence_.fault) return false;
  if (!base::defended(base::Defence::timed_outputs)) return true;
  const std::size_t version = set % reference_.pristine.size();
  const verify::Program& variant = variants_[arm - 1];
  const std::uint64_t digest = output_digest(device_, sets_[arm][set]->bind(*variant.module));
  const auto& known = reference_.right[version];
  unseen_.reset();
  if (std::find(known.begin(), known.end(), digest) != known.end()) return true;
  if (reference_.lent != nullptr) return show(arm, set, digest);
  if (++compared_ > comparison_limit && random_.below(3) != 0) {
    unseen_ = {arm, set};
    return true;
  }
  if (compare(arm, set)) reference_.right[version].push_back(digest);
  return !evidence_.fault;
}

bool TimedArms::compare(std::size_t arm, std::size_t set) {
  verify::Evidence one = verify::compare_outputs(task_, *sets_[arm][set], *variants_[arm - 1].plan,
                                                 *reference_.cases[set % reference_.cases.size()]);
  const bool right = !one.fault;
  if (!right) one.message += ", in an execution that was timed";
  evidence_.merge(std::move(one));
  return right;
}

}  // namespace cudal1::judge
