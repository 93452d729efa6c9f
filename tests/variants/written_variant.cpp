// SPDX-License-Identifier: Apache-2.0
#include "written_variant.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "kernel/plan.hpp"
#include "kernel_units.hpp"
#include "playbook/candidate.hpp"
#include "sim/sim.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include <fmt/format.h>

namespace cudal1::variants {

namespace {

std::string text_of(const kernel::Environment& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += fmt::format(" {}={}", name, std::get<std::int64_t>(value));
  return text;
}

}  // namespace

std::vector<WrittenVariant> written_variants(const std::shared_ptr<TorchLine>& line, const Wanted& wanted) {
  const task::Task& task = line->task();
  outcome::DeviceFacts facts = sim::gpu("H200");
  if (wanted.multiprocessors > 0) facts.sm_count = wanted.multiprocessors;
  const std::string head = fmt::format("{}\n{}\n", CUDAL1_VERSION, kernel::print(task.file));
  std::vector<WrittenVariant> variants;
  for (const auto precision : {outcome::Precision::fp32, outcome::Precision::tf32}) {
    const playbook::Candidates candidates = playbook::candidates_for(task, precision, facts);
    if (candidates.list.empty()) throw base::Error(base::Fault::bad_input, fmt::format("{}: {}", task.name(), candidates.refusal));
    for (const playbook::Candidate& candidate : candidates.list) {
      if (!candidate.id.ends_with(wanted.label) || candidate.source.find(wanted.holds) == std::string::npos) continue;
      const auto file = std::make_shared<const kernel::File>(kernel::bind(task.file, kernel::parse(candidate.source, "answer.cu").value()).value());
      const KernelUnits units(*file);
      auto members = kernel::family(*file).value();
      for (kernel::Environment& tunables : members) {
        std::vector<std::string> kernels;
        for (const std::string& unit : units.of(tunables)) kernels.push_back(base::sha256(head + unit).substr(0, 16));
        std::string name = fmt::format("{} {}: {}{}", task.name(), outcome::name(precision), candidate.id, text_of(tunables));
        variants.push_back({line, file, std::move(tunables), precision, std::move(name), std::move(kernels)});
      }
    }
  }
  return variants;
}

std::vector<std::size_t> with_every_kernel(const std::vector<WrittenVariant>& all, std::unordered_set<std::string> known) {
  const auto fresh = [&](std::size_t i) {
    return static_cast<int>(std::count_if(all[i].kernels.begin(), all[i].kernels.end(), [&](const std::string& kernel) { return !known.contains(kernel); }));
  };
  // By exactness, by kernels that no earlier one has, by order. A number that has become too large is corrected when its turn comes.
  using Entry = std::tuple<bool, int, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto push = [&](std::size_t i) { queue.emplace(all[i].precision != outcome::Precision::fp32, -fresh(i), i); };
  for (std::size_t i = 0; i < all.size(); ++i) push(i);
  std::vector<std::size_t> chosen;
  while (!queue.empty()) {
    const auto [rounded, count, i] = queue.top();
    queue.pop();
    const int now = fresh(i);
    if (now == 0) continue;
    if (now != -count) {
      push(i);
      continue;
    }
    known.insert(all[i].kernels.begin(), all[i].kernels.end());
    chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace cudal1::variants
