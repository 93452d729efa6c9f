// SPDX-License-Identifier: Apache-2.0
#include "sim/schedule.hpp"

#include "sim/asynchrony.hpp"
#include "sim/block.hpp"

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

void report_stuck(Block& block) {
  for (Warp& warp : block.warps) {
    if (warp.state != Warp::State::at_barrier) continue;
    const Program& program = *warp.worker->launch->program;
    const std::uint32_t resume = warp.stack.empty() ? 0 : warp.stack.back().pc;
    const std::uint32_t statement = program.segments[std::min<std::uint32_t>(resume > 0 ? resume - 1 : 0, static_cast<std::uint32_t>(program.segments.size() - 1))].statement;
    report_at(warp, std::min<std::uint32_t>(statement, static_cast<std::uint32_t>(program.statements.size() - 1)), outcome::Finding::Kind::divergent_barrier, 0, 0,
              "a barrier waits for threads that never reach it");
    return;
  }
}

// One block after another.
void run_each(Worker& worker, Block& block, std::uint64_t number) {
  Launch& launch = *worker.launch;
  begin(block, worker, number);
  std::uint64_t counted = 0;
  for (;;) {
    const Progress progress = advance(block, long_slice);
    if (!spend(launch, block, counted) || progress == Progress::finished) return note_end(worker, block);
    if (progress == Progress::stuck) {
      report_stuck(block);
      return;
    }
  }
}

// Blocks in turns on one thread: a block that uses up its slices makes room for the next, up to `resident` at once. While all
// wait, the next ones come in twice as many at a time: mostly it is they that are waited for.
void run_in_turns(Worker& worker, const std::vector<std::uint64_t>& numbers, std::uint64_t resident) {
  Launch& launch = *worker.launch;
  struct Turn {
    std::unique_ptr<Block> block;
    std::uint64_t counted = 0;
  };
  std::deque<Turn> turns;
  std::vector<std::unique_ptr<Block>> spare;
  std::size_t next = 0, fresh = 1;
  while ((next < numbers.size() || !turns.empty()) && !launch.aborted) {
    const std::size_t under_way = turns.size();
    for (std::size_t k = 0; k < under_way && !launch.aborted; ++k) {
      Turn turn = std::move(turns.front());
      turns.pop_front();
      const Progress progress = advance(*turn.block, short_slice);
      if (!spend(launch, *turn.block, turn.counted)) return;
      if (progress == Progress::stuck) report_stuck(*turn.block);
      if (progress == Progress::finished) note_end(worker, *turn.block);
      if (progress == Progress::waiting) turns.push_back(std::move(turn));
      else spare.push_back(std::move(turn.block));
    }
    fresh = turns.size() < under_way || launch.counts_spins ? 1 : 2 * fresh;
    for (std::size_t k = 0; k < fresh && next < numbers.size() && turns.size() < resident; ++k) {
      Turn turn;
      if (spare.empty()) {
        turn.block = std::make_unique<Block>();
        prepare(*turn.block, worker);
      } else {
        turn.block = std::move(spare.back());
        spare.pop_back();
      }
      begin(*turn.block, worker, numbers[next++]);
      turns.push_back(std::move(turn));
    }
  }
}

}  // namespace

std::vector<std::unique_ptr<Worker>> run_blocks(Launch& launch, const std::vector<std::uint64_t>& chosen, int threads, std::uint64_t resident) {
  const std::uint64_t total = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const std::uint64_t count = chosen.empty() ? total : chosen.size();
  const auto number = [&](std::uint64_t k) { return chosen.empty() ? k : chosen[k]; };
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
    Block block;
    prepare(block, worker);
    for (;;) {
      const std::uint64_t first = next.fetch_add(chunk);
      for (std::uint64_t k = first; k < std::min(count, first + chunk); ++k) {
        if (launch.aborted.load(std::memory_order_relaxed)) return;
        run_each(worker, block, number(k));
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
