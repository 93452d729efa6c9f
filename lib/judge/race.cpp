// SPDX-License-Identifier: Apache-2.0
#include "bench/race.hpp"

#include "judge/state.hpp"

#include <algorithm>
#include <cmath>

namespace cudal1::judge {

namespace {

constexpr int variant_rounds = 64;   // of a race between variants, at most

// One round's samples of several workloads as one: what decides is the weighted geometric mean.
void join(std::vector<device::Sample>& all, const std::vector<device::Sample>& more, double weight) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].ms *= std::pow(more[i].ms, weight);
    const double span = more[i].span_ms > 0 ? more[i].span_ms : more[i].ms;
    all[i].span_ms = all[i].span_ms > 0 ? std::min(all[i].span_ms, span) : span;
  }
}

}  // namespace

tl::expected<bench::Race, Rejected> Judge::State::race(const std::vector<Executable>& members, const std::string& key,
                                                       int most_rounds) {
  bench::Race race(members.size());
  const Step step(*this, "race");
  const std::vector<double> weight = weights();
  double total = 0;
  for (const double one : weight) total += one;
  double spent_ms = 0;
  const double budget_ms = options.gpu_budget_ms * static_cast<double>(members.size());
  if (auto filled = fill_versions(host); !filled) return tl::unexpected(std::move(filled.error()));
  for (std::size_t i = 0; lends() && i < members.size(); ++i)
    if (auto seen = look_ahead(host, members[i], key); !seen) return tl::unexpected(std::move(seen.error()));
  const Kept all_rounds(*this, GpuTurn::Use::alone);
  while (!race.decided() && race.rounds() < most_rounds && spent_ms < budget_ms) {
    // All rounds up to the next look in one job, because loading the members costs more than timing them.
    const int until = *std::upper_bound(bench::Race::looks.begin(), bench::Race::looks.end(), race.rounds());
    const std::size_t length = race.survivors().size();
    std::vector<std::size_t> order;
    for (int round = race.rounds(); round < until; ++round)
      for (const std::size_t member : race.round(random)) order.push_back(member);
    std::vector<device::Sample> samples(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) samples[i].arm = order[i], samples[i].ms = 1;
    double tick_ms = 0;
    for (std::size_t w = 0; w < weight.size(); ++w) {
      TimeJob job;
      job.workload = w;
      job.seed = random.next();
      std::vector<std::size_t> arm_of(members.size());  // arm 0 is the reference, which takes no part
      for (const std::size_t survivor : race.survivors()) {
        job.executables.push_back(members[survivor]);
        arm_of[survivor] = job.executables.size();
      }
      for (const std::size_t member : order) job.order.push_back(arm_of[member]);
      auto reply = time_arms(host, job, key);
      if (!reply) return tl::unexpected(std::move(reply.error()));
      if (reply->evidence.fault) {
        if (*reply->evidence.fault == outcome::Verdict::runtime_failed) {
          host.stop();
          lost(host);
        }
        return tl::unexpected(rejected(std::move(reply->evidence)));
      }
      tick_ms = reply->tick_ms;
      for (const device::Sample& sample : reply->samples) spent_ms += sample.ms;
      samples.resize(std::min(samples.size(), reply->samples.size() / length * length));
      join(samples, reply->samples, weight[w] / total);
    }
    if (samples.empty()) break;
    for (auto begin = samples.begin(); begin != samples.end(); begin += static_cast<std::ptrdiff_t>(length))
      race.add({begin, begin + static_cast<std::ptrdiff_t>(length)}, tick_ms);
  }
  return race;
}

std::optional<Race> Judge::race(const std::vector<Entrant>& entrants) {
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
  if (state.facts.simulated) return std::nullopt;
  const base::Seconds began = base::now();
  state.ensure_reference();
  Race result;
  std::vector<Executable> members;
  for (const Entrant& entrant : entrants) {
    auto built = read_candidate(state.task, entrant.source, entrant.name).and_then([&](const Candidate& candidate) {
      return build(state.task, candidate, {entrant.tunables.begin(), entrant.tunables.end()}, state.compiler, state.arch);
    });
    if (!built) {
      result.problem = fmt::format("{}: {}", entrant.name, built.error().message);
      break;
    }
    members.push_back(*std::move(built));
  }
  if (result.problem.empty()) {
    state.ensure_ready();
    const auto raced = state.race(members, "", variant_rounds);
    if (raced && raced->rounds() == 0) {
      result.problem = "nothing could be timed";
    } else if (raced) {
      result.fastest = raced->best();
      for (std::size_t i = 0; i < members.size(); ++i)
        result.standings.push_back(
            {i == result.fastest ? outcome::Speedup{} : raced->over(i, result.fastest).speedup(), raced->turns(i)});
    } else {
      result.problem = fmt::format("{}: {}", outcome::name(raced.error().verdict), raced.error().message);
    }
  }
  state.steps.clear();
  result.seconds = (base::now() - began).count() - std::exchange(state.waited, 0);
  return result;
}

std::optional<double> Judge::energy_mj(const Entrant& entrant, base::Seconds at_least) {
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
  if (state.facts.simulated || state.lends()) return std::nullopt;
  auto built = read_candidate(state.task, entrant.source, entrant.name).and_then([&](const Candidate& candidate) {
    return build(state.task, candidate, {entrant.tunables.begin(), entrant.tunables.end()}, state.compiler, state.arch);
  });
  if (!built) return std::nullopt;
  state.ensure_ready();
  const auto reply = state.ask<EnergyReply>(state.host, EnergyJob{*std::move(built), 0, at_least.count()}, true, "");
  state.steps.clear();
  return reply ? reply->millijoules : std::nullopt;
}

}  // namespace cudal1::judge
