// SPDX-License-Identifier: Apache-2.0
#include "sim/schedule.hpp"

#include "sim/asynchrony.hpp"
#include "sim/block.hpp"
#include "sim/cluster.hpp"

#include <algorithm>
#include <deque>
#include <thread>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::int64_t long_slice = 2'000'000;  // warp instructions before a warp lets others run
constexpr std::int64_t short_slice = 4'000;     // the same where blocks may wait for each other

// Adds what a block ran to the launch's budget; false when it is spent.
bool spend(Launch& launch, Block& block, std::uint64_t& counted) {
  const std::uint64_t fresh = block.executed - counted;
  counted = block.executed;
  if (launch.executed.fetch_add(fresh, std::memory_order_relaxed) + fresh <= launch.budget) return true;
  launch.timed_out = true;
  launch.aborted = true;
  return false;
}

void note_end(Worker& worker, Block& block) {
  finish(block);
  double longest = 0;
  for (const Warp& warp : block.warps) longest = std::max(longest, static_cast<double>(warp.executed) + warp.slept_ns);
  if (block.recording) {
    block.recording->longest_warp = longest;
    for (const Warp& warp : block.warps) block.recording->slept_ns = std::max(block.recording->slept_ns, warp.slept_ns);
  }
  if (longest > worker.longest.warp) worker.longest = {block.number, longest, static_cast<double>(block.executed)};
}

// Blocks that must run together: those of a cluster, or one.
struct Group {
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::uint64_t> counted;   // of each block's instructions
  std::vector<bool> ended;
  std::unique_ptr<Cluster> cluster = std::make_unique<Cluster>();   // blocks know its place
};

Group make_group(Worker& worker) {
  Group group;
  for (std::uint32_t k = 0; k < cluster_size(*worker.launch); ++k) {
    group.blocks.push_back(std::make_unique<Block>());
    prepare(*group.blocks.back(), worker);
  }
  return group;
}

void begin(Group& group, Worker& worker, std::uint64_t number) {
  const Launch& launch = *worker.launch;
  group.counted.assign(group.blocks.size(), 0);
  group.ended.assign(group.blocks.size(), false);
  if (group.blocks.size() == 1 && !launch.program->meets_in_clusters) return begin(*group.blocks.front(), worker, number);
  std::vector<Block*> blocks;
  for (const auto& block : group.blocks) blocks.push_back(block.get());
  begin(*group.cluster, blocks, launch.race_check && launch.shared_bytes > 0);
  const std::vector<std::uint64_t> members = cluster_members(launch, number);   // of one block: its own number
  for (std::size_t rank = 0; rank < members.size(); ++rank) begin(*blocks[rank], worker, members[rank]);
}

void report_stuck(const Group& group) {
  for (const auto& block : group.blocks)
    for (Warp& warp : block->warps) {
      if (warp.state != Warp::State::at_barrier && warp.state != Warp::State::at_cluster) continue;
      const Program& program = *warp.worker->launch->program;
      const std::uint32_t resume = warp.stack.empty() ? 0 : warp.stack.back().pc;
      const std::uint32_t statement = program.segments[std::min<std::uint32_t>(resume > 0 ? resume - 1 : 0, static_cast<std::uint32_t>(program.segments.size() - 1))].statement;
      report_at(warp, std::min<std::uint32_t>(statement, static_cast<std::uint32_t>(program.statements.size() - 1)), outcome::Finding::Kind::divergent_barrier, 0, 0,
                warp.state == Warp::State::at_cluster ? "the cluster's barrier waits for threads that never arrive" : "a barrier waits for threads that never reach it");
      return;
    }
}

Progress advance(Group& group, Worker& worker, std::int64_t slice) {
  Launch& launch = *worker.launch;
  bool waiting = false, moved = false, all = true;
  for (std::size_t k = 0; k < group.blocks.size(); ++k) {
    if (group.ended[k]) continue;
    Block& block = *group.blocks[k];
    const std::uint64_t before = block.executed;
    const Progress progress = advance(block, slice);
    moved |= block.executed != before;
    if (!spend(launch, block, group.counted[k])) return Progress::finished;
    if (progress == Progress::finished) {
      note_end(worker, block);
      leave(block);
      group.ended[k] = moved = true;
      continue;
    }
    all = false;
    waiting |= progress == Progress::waiting;
  }
  if (all || launch.aborted.load(std::memory_order_relaxed)) return Progress::finished;
  if (group.cluster->blocks.empty()) return waiting ? Progress::waiting : Progress::stuck;
  // A block that spins may wait for one that the barrier lets go: somebody's end may have been what it waited for.
  const bool released = release(*group.cluster);
  return waiting || released || moved ? Progress::waiting : Progress::stuck;
}

// One group after another.
void run_each(Worker& worker, Group& group, std::uint64_t number) {
  begin(group, worker, number);
  for (;;) {
    const Progress progress = advance(group, worker, long_slice);
    if (progress == Progress::stuck) report_stuck(group);
    if (progress != Progress::waiting) return;
  }
}

// Groups in turns on one thread: one that uses up its slices makes room for the next, up to `resident` blocks at once. While all
// wait, the next ones come in twice as many at a time: mostly it is they that are waited for.
void run_in_turns(Worker& worker, const std::vector<std::uint64_t>& numbers, std::uint64_t resident) {
  Launch& launch = *worker.launch;
  std::deque<Group> turns;
  std::vector<Group> spare;
  std::size_t next = 0, fresh = 1;
  while ((next < numbers.size() || !turns.empty()) && !launch.aborted) {
    const std::size_t under_way = turns.size();
    for (std::size_t k = 0; k < under_way && !launch.aborted; ++k) {
      Group group = std::move(turns.front());
      turns.pop_front();
      const Progress progress = advance(group, worker, short_slice);
      if (progress == Progress::stuck) report_stuck(group);
      (progress == Progress::waiting ? static_cast<void>(turns.push_back(std::move(group))) : spare.push_back(std::move(group)));
    }
    fresh = turns.size() < under_way || launch.counts_spins ? 1 : 2 * fresh;
    const std::uint64_t room = std::max<std::uint64_t>(1, resident / cluster_size(launch));
    for (std::size_t k = 0; k < fresh && next < numbers.size() && turns.size() < room; ++k) {
      if (spare.empty()) {
        turns.push_back(make_group(worker));
      } else {
        turns.push_back(std::move(spare.back()));
        spare.pop_back();
      }
      begin(turns.back(), worker, numbers[next++]);
    }
  }
}

// Clusters by number, or blocks where each is alone.
std::vector<std::uint64_t> groups_of(const Launch& launch, const std::vector<std::uint64_t>& blocks) {
  if (cluster_size(launch) == 1) return blocks;
  std::vector<std::uint64_t> clusters;
  for (const std::uint64_t block : blocks) clusters.push_back(cluster_of(launch, block));
  std::sort(clusters.begin(), clusters.end());
  clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
  return clusters;
}

}  // namespace

std::vector<std::unique_ptr<Worker>> run_blocks(Launch& launch, const std::vector<std::uint64_t>& chosen, int threads, std::uint64_t resident) {
  const std::uint64_t total = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2] / cluster_size(launch);
  const std::vector<std::uint64_t> groups = groups_of(launch, chosen);
  const std::uint64_t count = groups.empty() ? total : groups.size();
  const auto number = [&](std::uint64_t k) { return groups.empty() ? k : groups[k]; };
  const bool one = launch.program->fixed_order;
  const auto workers = static_cast<std::size_t>(one ? 1 : std::clamp<std::uint64_t>(count, 1, static_cast<std::uint64_t>(std::max(1, threads))));
  std::vector<std::unique_ptr<Worker>> result;
  for (std::size_t i = 0; i < workers; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->launch = &launch;
    worker->sites.resize(launch.program->sites.size());
    worker->segments.resize(launch.program->segments.size());
    result.push_back(std::move(worker));
  }
  if (launch.program->waits_for_blocks) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t k = 0; k < count; ++k) numbers.push_back(number(k));
    run_in_turns(*result.front(), numbers, resident);
    return result;
  }
  std::atomic<std::uint64_t> next{0};
  const std::uint64_t chunk = std::clamp<std::uint64_t>(count / (workers * 8), 1, 64);
  const auto work = [&](Worker& worker) {
    Group group = make_group(worker);
    for (;;) {
      const std::uint64_t first = next.fetch_add(chunk);
      for (std::uint64_t k = first; k < std::min(count, first + chunk); ++k) {
        if (launch.aborted.load(std::memory_order_relaxed)) return;
        run_each(worker, group, number(k));
      }
      if (first + chunk >= count) return;
    }
  };
  std::vector<std::thread> extra;
  for (std::size_t i = 1; i < workers; ++i) extra.emplace_back(work, std::ref(*result[i]));
  work(*result.front());
  for (std::thread& thread : extra) thread.join();
  return result;
}

}  // namespace cudal1::sim
