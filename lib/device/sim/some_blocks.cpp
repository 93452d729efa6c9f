// SPDX-License-Identifier: Apache-2.0
// A launch too large to execute: some of its blocks, that nobody can know, and how much of the outputs all of them write.
#include "sim/cluster.hpp"
#include "sim/sampling.hpp"
#include "sim/schedule.hpp"
#include "sim/sim_device.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace cudal1::sim {

namespace {

// Groups of blocks drawn independently: how much they differ says how far the estimate may be off. Where outputs seem to be
// missing, more of them, until that is certain.
constexpr std::size_t few_groups = 4, certain_groups = 12, most_groups = 200;
// So few blocks miss one idle block in twenty in one sample of thirty; blocks that do much are drawn in more groups to get there.
constexpr std::size_t telling_blocks = 64, telling_groups = 16;
constexpr std::uint64_t probes = 8;                // blocks that show how much one does: a single one may be idle
constexpr double suspicious = 0.99, certain = 4;   // of the outputs, and standard errors

struct Estimate {
  double mean = 0, error = 0;
};

Estimate estimate_of(const std::vector<double>& groups) {
  const auto count = static_cast<double>(groups.size());
  Estimate estimate{std::accumulate(groups.begin(), groups.end(), 0.0) / count, 0};
  double squares = 0;
  for (const double each : groups) squares += (each - estimate.mean) * (each - estimate.mean);
  estimate.error = std::sqrt(squares / std::max(1.0, count - 1) / count);
  return estimate;
}

bool want_more(const std::vector<double>& groups) {
  if (groups.size() < few_groups) return true;
  const auto [mean, error] = estimate_of(groups);
  return mean < suspicious && (groups.size() < certain_groups || (groups.size() < most_groups && mean + certain * error >= suspicious));
}

double written_bytes(const Allocation& buffer) {
  if (buffer.written == nullptr) return static_cast<double>(buffer.bytes);
  std::uint64_t count = 0;
  const std::size_t words = (buffer.bytes + 3) / 4;
  for (std::size_t i = 0; i < words; i += sizeof(std::uint64_t)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, buffer.written + i, std::min(sizeof eight, words - i));
    count += static_cast<std::uint64_t>(std::popcount(eight & 0x0f0f0f0f0f0f0f0f));
  }
  return static_cast<double>(count);
}

// What some blocks wrote of each output.
struct Seen {
  std::vector<double> bytes;
  double blocks = 0;
  double each(std::size_t output) const { return blocks > 0 ? bytes[output] / blocks : 0; }
};

// Outputs of which every block may write something. Of the others, as one number for a whole row of blocks, few drawn blocks
// show nothing; all of them show it of all outputs together.
std::vector<std::vector<const Allocation*>> looked_at(const std::vector<Allocation*>& outputs, std::uint64_t blocks) {
  std::vector<std::vector<const Allocation*>> sets(1, {outputs.begin(), outputs.end()});
  for (const Allocation* output : outputs)
    if (outputs.size() > 1 && output->bytes / 4 >= blocks) sets.push_back({output});
  return sets;
}

}  // namespace

bool dependent(const Program& program) {
  return program.fixed_order || program.waits_for_blocks ||
         std::any_of(program.sites.begin(), program.sites.end(), [](const SiteFacts& site) { return site.kind == SiteFacts::Kind::atomic; });
}

std::vector<std::unique_ptr<Worker>> SimDevice::run_some(Launch& launch, const std::vector<Allocation*>& outputs, std::uint64_t instructions,
                                                         std::uint64_t resident, device::RunResult& result) {
  const std::uint64_t blocks = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  if (dependent(*launch.program) || blocks < 2) return {};
  base::Random random(seed_, 1000 + samples_++);
  std::set<std::uint64_t> executed;
  while (executed.size() < std::min(probes, blocks)) executed.insert(random.below(blocks));
  for (const std::uint64_t block : whole_clusters(launch, {executed.begin(), executed.end()})) executed.insert(block);
  const std::uint64_t before = launch.executed;
  const auto sets = looked_at(outputs, blocks);
  const auto sums = [&](const auto& of) {
    std::vector<double> result;
    for (const auto& set : sets) result.push_back(std::accumulate(set.begin(), set.end(), 0.0, [&](double sum, const Allocation* buffer) { return sum + of(*buffer); }));
    return result;
  };
  std::vector<double> written = sums(written_bytes);
  std::vector<std::unique_ptr<Worker>> workers = run_blocks(launch, {executed.begin(), executed.end()}, threads_, resident);
  const std::uint64_t each = std::max<std::uint64_t>(1, (launch.executed - before) / executed.size());
  const std::uint64_t most = std::max<std::uint64_t>(16, instructions / each);
  if (launch.aborted) {
    launch.aborted = launch.timed_out = false;  // the whole launch meets the fault again, and reports it
    return {};
  }
  if (most >= blocks) {                         // all of them, but none twice: it may add to what it finds
    std::vector<std::uint64_t> others;
    for (std::uint64_t i = 0; i < blocks; ++i)
      if (!executed.contains(i)) others.push_back(i);
    auto more = run_blocks(launch, others, threads_, resident);
    std::move(more.begin(), more.end(), std::back_inserter(workers));
    return workers;
  }
  const auto fresh_bytes = [&] {
    std::vector<double> now = sums(written_bytes), fresh = now;
    for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] -= written[i];
    written = std::move(now);
    return fresh;
  };
  Seen first;
  first.bytes = fresh_bytes();
  first.blocks = static_cast<double>(executed.size());
  std::vector<Seen> seen;                     // of each class of blocks
  std::vector<std::vector<double>> estimates(sets.size());
  const std::vector<double> all = sums([](const Allocation& buffer) { return static_cast<double>(buffer.bytes); });
  const auto telling = [&] { return executed.size() >= telling_blocks || estimates.front().size() >= telling_groups; };
  while (!launch.aborted && (!telling() || std::any_of(estimates.begin(), estimates.end(), want_more))) {
    const std::vector<BlockClass> classes = sample_blocks(launch.grid, std::max<std::uint64_t>(1, most / few_groups), random);
    seen.resize(classes.size());
    std::vector<double> estimate(sets.size());
    for (std::size_t c = 0; c < classes.size() && !launch.aborted; ++c) {
      std::vector<std::uint64_t> chosen;
      const std::vector<std::uint64_t> whole = whole_clusters(launch, classes[c].chosen);
      std::copy_if(whole.begin(), whole.end(), std::back_inserter(chosen), [&](std::uint64_t block) { return executed.insert(block).second; });
      Seen here = seen[c].blocks > 0 ? seen[c] : first;
      if (!chosen.empty()) {
        auto more = run_blocks(launch, chosen, threads_, resident);
        std::move(more.begin(), more.end(), std::back_inserter(workers));
        here = {fresh_bytes(), static_cast<double>(chosen.size())};
        seen[c].bytes.resize(sets.size());
        for (std::size_t i = 0; i < sets.size(); ++i) seen[c].bytes[i] += here.bytes[i];
        seen[c].blocks += here.blocks;
      }
      for (std::size_t i = 0; i < sets.size(); ++i) estimate[i] += classes[c].population * here.each(i);
    }
    for (std::size_t i = 0; i < sets.size(); ++i) estimates[i].push_back(all[i] > 0 ? estimate[i] / all[i] : 1);
  }
  const auto at_most = [](const Estimate& each) { return each.mean + certain * each.error; };
  Estimate least = estimate_of(estimates.front());   // of the output of which least is written
  for (const auto& groups : estimates)
    if (const Estimate own = estimate_of(groups); at_most(own) < at_most(least)) least = own;
  result.covered = least.mean;
  result.covered_error = least.error;
  result.executed_share = static_cast<double>(executed.size()) / static_cast<double>(blocks);
  return workers;
}

}  // namespace cudal1::sim
