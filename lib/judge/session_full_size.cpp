// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"
#include "judge/session.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <cmath>

// What is right at full size, where the outputs are compared that were timed.
namespace cudal1::judge {

// Where y64 cannot be had at this size, not even in parts, sigma is that of the check sizes, grown with the root of the
// sums' length.
double Session::grown_sigma(std::size_t workload) const {
  double relative = 0;
  double operations = 1;
  for (const verify::Case& subject : cases_) {
    if (subject.trial.pattern != reference::Pattern::declared || !subject.oracle) continue;
    operations = std::max(operations, subject.operations);
    for (const reference::Expected& expected : subject.expected) {
      double squares = 0;
      double norm = 0;
      for (std::size_t k = 0; k < expected.sigma.size(); ++k) {
        if (!std::isfinite(expected.truth[k])) continue;
        squares += std::pow(expected.sigma[k], 2);
        norm += std::pow(expected.truth[k], 2);
      }
      if (norm > 0) relative = std::max(relative, std::sqrt(squares / norm));
    }
  }
  double elements = 1;
  for (const reference::Expected& expected : reference::outputs(task_, task_.workloads[workload])) {
    double count = 1;
    for (const std::int64_t extent : expected.shape) count *= static_cast<double>(extent);
    elements = std::max(elements, count);
  }
  constexpr double both = 1.5;   // the reference's own output, which stands in for the truth, is off as well
  return both * relative * std::sqrt(std::max(1.0, reference::operations(task_, workload) / elements / operations));
}

verify::CaseOptions Session::full_size_options(std::size_t workload) const {
  verify::CaseOptions options;
  options.assignment = workload;
  options.precision = precision_;
  options.threads = threads_;
  options.full_size = true;
  if (task_.torch) options.relative_sigma = grown_sigma(workload);
  return options;
}

std::uint64_t Session::full_size_seed(std::size_t version) const {
  return base::defended(base::Defence::fresh_values) ? seed_ + 0x51ab * (version + 1) : seed_;
}

const verify::Case* Session::full_case(std::size_t workload, std::size_t version) {
  auto& held = full_cases_[{workload, version}];
  if (held) return held.get();
  const verify::Program program{reference_module_.module.get(), &reference_.workloads[workload]};
  auto made = verify::make_case(*device_, task_, task_.workloads[workload], full_size_trial(version), program, random_,
                                full_size_options(workload));
  if (!made) {
    full_case_problem_ = made.error();
    return nullptr;
  }
  held = std::make_unique<verify::Case>(*std::move(made));
  return held.get();
}

const reference::Trial* Session::stress() const {
  const auto found = std::find_if(cases_.begin(), cases_.end(), [](const verify::Case& each) { return each.oracle && each.trial.pattern == reference::Pattern::mixed; });
  return found == cases_.end() || !base::defended(base::Defence::patterns) ? nullptr : &found->trial;
}

reference::Trial Session::full_size_trial(std::size_t version) const {
  const reference::Trial* other = version == stressed ? stress() : nullptr;
  return {other != nullptr ? other->pattern : reference::Pattern::declared, full_size_seed(version), other != nullptr ? other->turn : 0};
}

const std::vector<reference::Bytes>& Session::workload_inputs(std::size_t workload, std::size_t version) {
  // A module is timed on secret weights, which its first case, KernelBench's own, does not have.
  if (task::is_module(task_)) return predicted_case().inputs;
  auto [place, fresh] = inputs_.try_emplace({workload, version});
  if (fresh)
    place->second = reference::inputs(task_, task_.workloads[workload], full_size_trial(version));
  return place->second;
}

}  // namespace cudal1::judge
