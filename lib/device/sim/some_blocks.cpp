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
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace cudal1::sim {

namespace {

// Groups of blocks drawn independently: how much they differ says how far the estimate may be off. Where outputs seem to be
// missing, more of them, until that is certain.
constexpr std::size_t fewest_groups = 4, few_groups = 12, most_groups = 200;
constexpr std::size_t edge_groups = 4;             // that look at every kind of edge
// So few blocks miss one idle block in twenty in one sample of a thousand: 0.95^135.
constexpr double telling_blocks = 135;
constexpr double probes = 8;                       // blocks that show how much one does: a single one may be idle
constexpr double affordable = 0.5;                 // of the launch's budget: the last group may go beyond
constexpr double complete = 0.999, suspicious = 0.99, certain = 4;   // of the outputs, and standard errors
constexpr double presumed_error = 0.05;            // of an estimate by so few groups that they do not say how much they differ

struct Estimate {
  double mean = 0, error = 0;
  bool misses_outputs() const { return mean < suspicious && mean + certain * error < 1; }
};

Estimate estimate_of(const std::vector<double>& groups) {
  const auto count = static_cast<double>(groups.size());
  Estimate estimate{std::accumulate(groups.begin(), groups.end(), 0.0) / count, 0};
  double squares = 0;
  for (const double each : groups) squares += (each - estimate.mean) * (each - estimate.mean);
  estimate.error = groups.size() < fewest_groups ? presumed_error : std::sqrt(squares / (count - 1) / count);
  return estimate;
}

// Whether a few groups leave open how much of an output is written.
bool open_after(const std::vector<double>& groups) {
  if (groups.size() >= most_groups) return false;
  const Estimate estimate = estimate_of(groups);
  return estimate.mean < complete && !estimate.misses_outputs();
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

std::uint64_t block_count(const Launch& launch) { return static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2]; }

// What some blocks wrote of each output.
struct Seen {
  std::vector<double> bytes;
  double blocks = 0;
  double each(std::size_t output) const { return blocks > 0 ? bytes[output] / blocks : 0; }
  void add(const Seen& more) {
    bytes.resize(more.bytes.size());
    std::transform(bytes.begin(), bytes.end(), more.bytes.begin(), bytes.begin(), std::plus<>());
    blocks += more.blocks;
  }
};

// Outputs of which every block may write something. Of the others, as one number for a whole row of blocks, few drawn blocks
// show nothing; all of them show it of all outputs together.
std::vector<std::vector<const Allocation*>> looked_at(const std::vector<Allocation*>& outputs, std::uint64_t blocks) {
  std::vector<std::vector<const Allocation*>> sets(1, {outputs.begin(), outputs.end()});
  for (const Allocation* output : outputs)
    if (outputs.size() > 1 && output->bytes / 4 >= blocks) sets.push_back({output});
  return sets;
}

// Blocks of one launch, drawn in groups, none twice, and what each group shows of how much of the outputs all blocks write.
class Drawing {
 public:
  Drawing(Launch& launch, const std::vector<Allocation*>& outputs, base::Random random, int threads, std::uint64_t resident)
      : launch_(launch), sets_(looked_at(outputs, block_count(launch))), random_(random), threads_(threads), resident_(resident), estimates_(sets_.size()) {
    all_ = sums([](const Allocation& buffer) { return static_cast<double>(buffer.bytes); });
    written_ = sums(written_bytes);
  }

  // A group of about `most` blocks. The first groups look at every kind of edge.
  void draw(double most) {
    const std::vector<BlockClass> classes = sample_blocks(launch_.grid, most, groups() < edge_groups ? Edges::always : Edges::in_proportion, random_);
    seen_.resize(classes.size());
    std::vector<double> estimate(sets_.size());
    for (std::size_t c = 0; c < classes.size() && !launch_.aborted; ++c) {
      const Seen fresh = run(classes[c].chosen);
      seen_[c].add(fresh);
      const Seen& shows = fresh.blocks > 0 ? fresh : seen_[c];
      for (std::size_t i = 0; i < sets_.size(); ++i) estimate[i] += classes[c].population * shows.each(i);
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) estimates_[i].push_back(all_[i] > 0 ? estimate[i] / all_[i] : 1);
    const auto common = std::max_element(classes.begin(), classes.end(), [](const BlockClass& a, const BlockClass& b) { return a.population < b.population; });
    const double share = common->population / static_cast<double>(block_count(launch_));
    telling_ = seen_[static_cast<std::size_t>(common - classes.begin())].blocks / share;
  }

  void run_others() {
    std::vector<std::uint64_t> others;
    for (std::uint64_t i = 0; i < block_count(launch_); ++i)
      if (!executed_.contains(i)) others.push_back(i);
    run(others);
  }

  bool wants_more() const {
    return groups() < few_groups || telling_ < std::min(telling_blocks, static_cast<double>(block_count(launch_))) ||
           std::any_of(estimates_.begin(), estimates_.end(), open_after);
  }

  std::size_t executed() const { return executed_.size(); }
  std::vector<std::unique_ptr<Worker>> take_workers() { return std::move(workers_); }

  // Of the output of which least is written.
  Estimate least() const {
    const auto at_most = [](const Estimate& each) { return each.mean + certain * each.error; };
    Estimate least = estimate_of(estimates_.front());
    for (const auto& groups : estimates_)
      if (const Estimate own = estimate_of(groups); at_most(own) < at_most(least)) least = own;
    return least;
  }

 private:
  template <class Of>
  std::vector<double> sums(const Of& of) const {
    std::vector<double> result;
    for (const auto& set : sets_) result.push_back(std::accumulate(set.begin(), set.end(), 0.0, [&](double sum, const Allocation* buffer) { return sum + of(*buffer); }));
    return result;
  }

  // Runs those of the blocks that have not run yet, with all of their clusters: what they wrote that was not written before.
  Seen run(const std::vector<std::uint64_t>& wanted) {
    std::vector<std::uint64_t> blocks;
    const std::vector<std::uint64_t> whole = whole_clusters(launch_, wanted);
    std::copy_if(whole.begin(), whole.end(), std::back_inserter(blocks), [&](std::uint64_t block) { return executed_.insert(block).second; });
    Seen fresh{std::vector<double>(sets_.size()), static_cast<double>(blocks.size())};
    if (blocks.empty()) return fresh;
    auto workers = run_blocks(launch_, blocks, threads_, resident_);
    std::move(workers.begin(), workers.end(), std::back_inserter(workers_));
    std::vector<double> now = sums(written_bytes);
    std::transform(now.begin(), now.end(), written_.begin(), fresh.bytes.begin(), std::minus<>());
    written_ = std::move(now);
    return fresh;
  }

  std::size_t groups() const { return estimates_.front().size(); }

  Launch& launch_;
  std::vector<std::vector<const Allocation*>> sets_;
  base::Random random_;
  int threads_;
  std::uint64_t resident_;
  std::set<std::uint64_t> executed_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<double> all_, written_;             // bytes, by set
  std::vector<Seen> seen_;                        // by class of blocks
  std::vector<std::vector<double>> estimates_;    // by set, of each group
  double telling_ = 0;                            // blocks drawn, were all kinds drawn in proportion
};

}  // namespace

bool dependent(const Program& program) {
  return program.fixed_order || program.waits_for_blocks ||
         std::any_of(program.sites.begin(), program.sites.end(), [](const SiteFacts& site) { return site.kind == SiteFacts::Kind::atomic; });
}

std::vector<std::unique_ptr<Worker>> SimDevice::run_some(Launch& launch, const std::vector<Allocation*>& outputs, std::uint64_t instructions,
                                                         std::uint64_t resident, device::RunResult& result) {
  const std::uint64_t blocks = block_count(launch);
  if (dependent(*launch.program) || blocks < 2) return {};
  Drawing drawing(launch, outputs, base::Random(seed_, 1000 + samples_++), threads_, resident);
  drawing.draw(probes);
  if (launch.aborted) {
    launch.aborted = launch.timed_out = false;  // the whole launch meets the fault again, and reports it
    return {};
  }
  const double each = std::max(1.0, static_cast<double>(launch.executed) / static_cast<double>(drawing.executed()));
  const double most = affordable * static_cast<double>(launch.budget) / each;
  const double wanted = std::min(most, std::max(telling_blocks, static_cast<double>(instructions) / each));
  if (static_cast<double>(blocks) <= wanted) {  // all of them, but none twice: it may add to what it finds
    drawing.run_others();
    return drawing.take_workers();
  }
  // Whole clusters run, so that all blocks may have run before enough of the common kind were drawn.
  while (!launch.aborted && drawing.wants_more() && static_cast<double>(drawing.executed()) < std::min(most, static_cast<double>(blocks))) drawing.draw(wanted / few_groups);
  const Estimate least = drawing.least();
  result.covered = least.mean;
  result.covered_error = least.error;
  result.executed_share = static_cast<double>(drawing.executed()) / static_cast<double>(blocks);
  return drawing.take_workers();
}

}  // namespace cudal1::sim
