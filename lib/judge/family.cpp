// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"
#include "judge/state.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

constexpr std::size_t family_sample = 16;    // members tried of a family before the neighbours of the best
constexpr int climbing_steps = 3;            // rounds of neighbours
constexpr int race_rounds = 16;              // at most

}  // namespace

Built Judge::State::build_ahead(const Candidate& candidate) const {
  auto indices = spread(candidate.family.size(), family_sample);
  indices.resize(std::min(indices.size(), base::cores()));
  std::vector<tl::expected<Executable, Rejected>> built(indices.size());
  base::in_parallel(indices.size(), [&](std::size_t i) {
    built[i] = build(task, candidate, candidate.family[indices[i]], compiler, arch);
  });
  Built ahead;
  for (std::size_t i = 0; i < indices.size(); ++i) ahead.emplace(indices[i], std::move(built[i]));
  return ahead;
}

outcome::Judgement Judge::State::judge(const Candidate& candidate, const std::string& source, Built ahead, bool timing_too) {
  // Members of the family that were compiled, with what is known about each.
  struct Member {
    kernel::Environment tunables;
    std::string key;
    tl::expected<Executable, Rejected> executable;
    std::optional<Rejected> checked;       // verdict inconclusive: right
    std::optional<Timed> timed;
  };
  std::map<std::size_t, Member> members;
  std::optional<Rejected> first_fault;
  const auto note = [&](const Rejected& rejected, const kernel::Environment& tunables) {
    if (first_fault) return;
    first_fault = rejected;
    first_fault->tunables = integers(tunables);
  };
  // Compiles those members that are not yet, on every core; what is noted does not depend on who is done first.
  const auto prepare = [&](const std::vector<std::size_t>& indices) {
    std::vector<std::size_t> missing;
    for (const std::size_t index : indices)
      if (!members.contains(index)) missing.push_back(index);
    const Step step(*this, "compile");
    std::vector<tl::expected<Executable, Rejected>> built(missing.size());
    base::in_parallel(missing.size(), [&](std::size_t i) {
      const auto known = ahead.find(missing[i]);
      built[i] = known != ahead.end() ? std::move(known->second) : build(task, candidate, candidate.family[missing[i]], compiler, arch);
    });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const kernel::Environment& tunables = candidate.family[missing[i]];
      if (!built[i]) note(built[i].error(), tunables);
      members.emplace(missing[i], Member{tunables, candidate_key(source, tunables), std::move(built[i]), {}, {}});
    }
  };
  const auto member = [&](std::size_t index) -> Member& {
    prepare({index});
    return members.at(index);
  };
  const auto right = [&](Member& subject) {
    if (!subject.executable) return false;
    if (!subject.checked) {
      if (auto remembered = remembered_hang(subject.key)) {
        subject.checked = std::move(remembered);
      } else {
        ensure_ready();
        subject.checked = check(host, *subject.executable, subject.key, CheckJob::Where::check_sizes, timing_too);
      }
      if (subject.checked->verdict != Verdict::inconclusive)
        note(with_fault(describe(*subject.executable, subject.tunables), *subject.checked), subject.tunables);
    }
    return subject.checked->verdict == Verdict::inconclusive;
  };
  const auto timed = [&](Member& subject) {
    if (!subject.executable || subject.timed) return;
    ensure_ready();
    auto result = facts.simulated ? predict(host, *subject.executable, subject.key)
                                  : measure(host, *subject.executable, bench::Purpose::screening, subject.key);
    if (result) subject.timed = *std::move(result);
    else note(result.error(), subject.tunables);
  };

  std::vector<std::size_t> chosen = spread(candidate.family.size(), family_sample);
  // A member that is wrong usually means that all are: find one that is right before the rest is compiled and timed.
  std::optional<std::size_t> sound;
  int tries = 0;
  for (const std::size_t index : chosen) {
    if (right(member(index))) {
      sound = index;
      break;
    }
    if (++tries >= 3 && members.at(index).executable) break;
  }
  if (!sound) return *first_fault;
  if (!timing_too) {
    const Member& checked = members.at(*sound);
    outcome::Judgement judgement = describe(*checked.executable, checked.tunables);
    judgement.errors = checked.checked->errors;
    judgement.sanitizer = checked.checked->sanitizer;
    judgement.verdict = Verdict::dropped;
    judgement.message = "right; not timed";
    return judgement;
  }

  prepare(chosen);
  std::optional<std::size_t> best;
  std::map<std::size_t, double> relative_times;   // over the fastest, of members that raced
  if (candidate.family.size() == 1 || facts.simulated) {
    const auto consider = [&](const std::vector<std::size_t>& indices) {
      prepare(indices);
      bool better = false;
      for (const std::size_t index : indices) {
        Member& subject = member(index);
        timed(subject);
        if (!subject.timed) continue;
        if (best && subject.timed->estimate.mean <= members.at(*best).timed->estimate.mean) continue;
        if (!right(subject)) continue;
        best = index;
        better = true;
      }
      return better;
    };
    consider(chosen);
    for (int step = 0; step < climbing_steps && best && candidate.family.size() > chosen.size(); ++step) {
      std::vector<std::size_t> fresh;
      for (const std::size_t index : neighbours(candidate.family, *best))
        if (!members.contains(index)) fresh.push_back(index);
      if (!consider(fresh)) break;
    }
  } else {
    std::vector<Executable> runners;
    std::vector<std::size_t> indices;
    for (const std::size_t index : chosen) {
      Member& subject = member(index);
      if (!right(subject)) continue;
      runners.push_back(*subject.executable);
      indices.push_back(index);
    }
    ensure_ready();
    auto raced = race(runners, members.at(indices.front()).key, race_rounds);
    if (!raced) return raced.error();
    best = indices[raced->best()];
    for (std::size_t i = 0; i < indices.size(); ++i) relative_times[indices[i]] = i == raced->best() ? 1 : std::exp(-raced->over(i, raced->best()).mean);
    timed(members.at(*best));
    if (!members.at(*best).timed) best.reset();
  }
  if (!best) return *first_fault;

  const double unit_ms = members.at(*best).timed->workloads.front().variant_ms;
  std::vector<outcome::TriedMember> tried;
  for (const auto& [index, subject] : members) {
    outcome::TriedMember one{integers(subject.tunables), 0, ""};
    if (!subject.executable) one.problem = subject.executable.error().message;
    else if (subject.checked && subject.checked->verdict != Verdict::inconclusive) one.problem = subject.checked->message;
    else if (const auto raced = relative_times.find(index); raced != relative_times.end()) one.ms = unit_ms * raced->second;
    else if (subject.timed) one.ms = subject.timed->workloads.front().variant_ms;
    tried.push_back(std::move(one));
  }
  Member& winner = members.at(*best);
  if (facts.simulated && reference_predictions.empty()) {
    reference_predictions = winner.timed->predictions;
    auto relative = predict(host, *winner.executable, winner.key);
    if (!relative) return relative.error();
    winner.timed = *std::move(relative);
  }
  outcome::Judgement judgement = describe(*winner.executable, winner.tunables);
  judgement.errors = winner.checked->errors;
  judgement.sanitizer = winner.checked->sanitizer;
  if (tried.size() > 1) judgement.members = std::move(tried);
  apply(*winner.timed, judgement);
  if (judgement.verdict != Verdict::dropped) count(host, judgement, *winner.executable);
  return judgement;
}

}  // namespace cudal1::judge
