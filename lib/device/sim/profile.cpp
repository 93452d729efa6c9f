// SPDX-License-Identifier: Apache-2.0
// What the model of time needs to know of a launch: counters from sampled blocks, traffic and latency from recorded ones.
#include "sim/cluster.hpp"
#include "sim/pipeline.hpp"
#include "sim/sampling.hpp"
#include "sim/schedule.hpp"
#include "sim/sim_device.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace cudal1::sim {

namespace {

constexpr std::uint64_t counted_instructions = 8'000'000;   // warp instructions spent on the counters of one launch
constexpr std::uint64_t recorded_instructions = 1'500'000;  // up to which a whole wave of blocks is recorded

// What the simulator spends on what it ran, in ordinary warp instructions.
std::uint64_t host_cost(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers) {
  double cost = 0;
  for (const auto& worker : workers) {
    for (const StatementFacts& facts : program.statements) {
      const bool fragment = facts.opcode.starts_with("wmma") || facts.opcode.find("matrix") != std::string::npos;
      cost += static_cast<double>(worker->segments[facts.segment].warps) * (facts.work == Work::tensor ? 1200 : fragment ? 500 : 1);
    }
    for (std::size_t s = 1; s < program.sites.size(); ++s)
      if (program.sites[s].kind == SiteFacts::Kind::local || program.sites[s].kind == SiteFacts::Kind::atomic)
        cost += 60 * static_cast<double>(worker->sites[s].requests);
  }
  return static_cast<std::uint64_t>(cost);
}

std::uint64_t number_of(const Launch& launch, const std::array<std::uint64_t, 3>& at) {
  return (at[2] * launch.grid[1] + at[1]) * launch.grid[0] + at[0];
}

// A block from inside the grid that nobody can know and, where that is cheap, the whole wave around it; else its neighbours.
RecordedBlocks record_blocks(Launch& launch, const Residency& residency, int threads, Recordings& recordings, std::uint64_t& each, base::Random random) {
  RecordedBlocks blocks;
  blocks.recordings = &recordings;
  std::array<std::uint64_t, 3> inside{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (launch.grid[axis] > 2) inside[axis] = 1 + random.below(launch.grid[axis] - 2);
  blocks.first = number_of(launch, inside);
  blocks.neighbours.fill(blocks.first);
  recordings[blocks.first];
  launch.recordings = &recordings;
  const std::uint64_t grid = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const bool waits = launch.program->waits_for_blocks;
  each = waits ? 1 : std::max<std::uint64_t>(1, host_cost(*launch.program, run_blocks(launch, {blocks.first}, 1, 1)));
  std::vector<std::uint64_t> others;
  if (!waits && each * residency.blocks <= recorded_instructions) {
    blocks.whole_wave = true;
    const std::uint64_t start = std::min(blocks.first / residency.blocks * residency.blocks, grid - residency.blocks);
    for (std::uint64_t b = start; b < start + residency.blocks; ++b) others.push_back(b);
    if (blocks.first < start) blocks.first = start;
  } else {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (launch.grid[axis] == 1) continue;
      auto at = inside;
      ++at[axis];
      blocks.neighbours[axis] = number_of(launch, at);
      others.push_back(blocks.neighbours[axis]);
    }
  }
  others = whole_clusters(launch, others);
  std::erase(others, blocks.first);
  Recordings fresh;
  for (const std::uint64_t b : others) fresh[b];
  if (waits) fresh[blocks.first];
  launch.recordings = &fresh;
  if (waits) run_blocks(launch, {}, threads, residency.blocks);
  else if (!others.empty()) run_blocks(launch, others, threads, residency.blocks);
  if (waits) recordings.clear();
  recordings.merge(fresh);
  launch.recordings = nullptr;
  return blocks;
}

void keep_longest(Worker::Longest& longest, const std::vector<std::unique_ptr<Worker>>& workers) {
  for (const auto& worker : workers)
    if (worker->longest.warp > longest.warp || (worker->longest.warp == longest.warp && worker->longest.block < longest.block)) longest = worker->longest;
}

Tally count_sample(Launch& launch, int threads, std::uint64_t resident, std::uint64_t each, std::uint64_t seed, Worker::Longest& longest) {
  const std::uint64_t grid = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  // Where blocks wait for each other a sample would wait forever.
  if (launch.program->waits_for_blocks) {
    const auto workers = run_blocks(launch, {}, threads, resident);
    keep_longest(longest, workers);
    return count(launch, workers, grid);
  }
  Tally all;
  base::Random random(seed, 11);
  const double most = std::max(2.0, static_cast<double>(counted_instructions / std::max<std::uint64_t>(1, each)));
  for (BlockClass& one : sample_blocks(launch.grid, most, Edges::always, random)) {
    one.chosen = whole_clusters(launch, one.chosen);
    const auto workers = run_blocks(launch, one.chosen, threads, resident);
    keep_longest(longest, workers);
    Tally tally = count(launch, workers, one.chosen.size());
    tally.scale(one.population / static_cast<double>(one.chosen.size()));
    all.add(tally);
  }
  return all;
}

// Eight or more neighbouring words that a straight run loads from one base become loads of four words each: what they touch is
// served once. Fewer are left alone, because their alignment is not known.
void join_shared_loads(const Program& program, Tally& tally) {
  for (const Segment& segment : program.segments) {
    std::map<std::uint32_t, std::map<std::int64_t, std::uint32_t>> by_base;  // base row → offset → site
    for (std::uint32_t i = segment.first; i < segment.last; ++i) {
      const Instruction& instruction = program.instructions[i];
      if (instruction.site == 0 || program.sites[instruction.site].kind != SiteFacts::Kind::shared) continue;
      const std::string& opcode = program.statements[program.sites[instruction.site].statement].opcode;
      if (opcode == "ld.shared.f32" || opcode == "ld.shared.u32" || opcode == "ld.shared.b32" || opcode == "ld.shared.s32")
        by_base[instruction.a][instruction.immediate] = instruction.site;
    }
    for (const auto& [base, offsets] : by_base) {
      std::vector<std::uint32_t> run;
      std::int64_t expected = 0;
      const auto close = [&] {
        for (std::size_t k = 0; run.size() >= 8 && k < run.size() / 4 * 4; ++k) {
          SiteTotal& site = tally.sites[run[k]];
          const double saved = 0.75 * site.requests;
          tally.work.slots -= saved, tally.work.memory -= saved;
          site.requests *= 0.25, site.wavefronts *= 0.25, site.ideal *= 0.25;
        }
        run.clear();
      };
      for (const auto& [offset, site] : offsets) {
        if (!run.empty() && offset != expected) close();
        run.push_back(site);
        expected = offset + 4;
      }
      close();
    }
  }
}

// What ptxas spills is not in the PTX: it moves whenever the code around it runs.
void add_spills(const outcome::ResourceFacts& resources, const Program& program, const Residency& residency, LaunchProfile& profile) {
  const double bytes = static_cast<double>(resources.spill_load_bytes + resources.spill_store_bytes);
  if (bytes == 0) return;
  const double warps = static_cast<double>(profile.blocks) * ((profile.threads_per_block + 31) / 32);
  const double repeats = std::max(1.0, profile.counters.warp_instructions / warps / static_cast<double>(program.statements.size()));
  const double accesses = bytes / 4 * repeats * warps, sectors = 4 * accesses;
  const double frames = static_cast<double>(resources.local_bytes) * profile.threads_per_block * static_cast<double>(residency.blocks_per_sm);
  const double missed = std::clamp(1 - static_cast<double>(residency.l1_bytes) / std::max(1.0, frames), 0.0, 1.0);
  const double loads = static_cast<double>(resources.spill_load_bytes) / bytes;
  profile.counters.local_sectors += sectors;
  profile.work.slots += accesses, profile.work.memory += accesses;
  profile.traffic.l1_sectors += sectors, profile.traffic.load_lines += accesses;
  profile.traffic.l2_read_sectors += sectors * missed * loads, profile.traffic.l2_write_sectors += sectors * missed * (1 - loads);
}

// Of a recorded block's traced warps, the longest; what was left out of their logs, and warps that were not traced, are taken to
// be like what was traced.
double block_cycles(const Program& program, const Recording& recording, const std::vector<SiteReach>& reach, const std::vector<SiteTotal>& totals, unsigned warps) {
  double cycles = 0, traced = 0;
  for (const Recording::Log& log : recording.warps) {
    if (!log.traced) continue;
    cycles = std::max(cycles, warp_cycles(program, log, reach, totals, warps));
    traced = std::max(traced, std::accumulate(log.segments.begin(), log.segments.end(), 0.0, [&](double sum, std::uint32_t s) { return sum + program.segments[s].weight; }));
  }
  return cycles * std::max(1.0, (recording.longest_warp - recording.slept_ns) / std::max(1.0, traced));
}

}  // namespace

// A launch takes as long as its longest block, which may be one that does the work of all.
double SimDevice::longest_cycles(Launch& launch, const Worker::Longest& longest, const Recording& typical, double typical_cycles, const std::vector<SiteReach>& reach,
                                 const std::vector<SiteTotal>& totals) const {
  constexpr double outstanding = 1.5;
  if (longest.warp < outstanding * typical.longest_warp) return 0;
  const auto warps = (launch.threads_per_block + 31) / 32;
  const double issue = longest.all / (4 * fitted_constants().issue_share);
  // Blocks that wait for others cannot run alone.
  if (launch.program->waits_for_blocks) return std::max(issue, typical_cycles * longest.warp / std::max(1.0, typical.longest_warp));
  Recordings recordings;
  recordings[longest.block];
  launch.recordings = &recordings;
  run_blocks(launch, {longest.block}, 1, 1);
  launch.recordings = nullptr;
  const Recording& recording = recordings.at(longest.block);
  return std::max(issue, block_cycles(*launch.program, recording, reach, totals, warps)) + recording.slept_ns * 1e-9 * facts_.clock_hz;
}

LaunchProfile SimDevice::profile(const LoadedModule::Kernel& kernel, Launch& launch) const {
  LaunchProfile profile;
  const Program& program = kernel.program;
  profile.blocks = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  profile.threads_per_block = launch.threads_per_block;
  const Residency residency = sim::residency(facts_, kernel.resources.registers, launch.shared_bytes, static_cast<int>(launch.threads_per_block), profile.blocks);
  profile.blocks_per_sm = residency.blocks_per_sm;
  Recordings recordings;
  std::uint64_t each = 1;
  const RecordedBlocks blocks = record_blocks(launch, residency, threads_, recordings, each, base::Random(seed_, 13));
  Worker::Longest longest;
  Tally tally = count_sample(launch, threads_, residency.blocks, each, seed_, longest);
  tally.finish();
  profile.counters = tally.total;
  join_shared_loads(program, tally);
  profile.lines = std::move(tally.lines);
  profile.work = tally.work;
  std::vector<SiteReach> reach;
  profile.traffic = traffic(launch, facts_, residency, blocks, tally.sites, reach);
  for (const SiteTotal& site : tally.sites) profile.traffic.shared_wavefronts += site.wavefronts;
  const auto warps = (launch.threads_per_block + 31) / 32;
  const Recording& typical = recordings.at(blocks.first);
  for (const Recording::Log& log : typical.warps) {
    if (!log.traced) continue;
    double cycles = warp_cycles(program, log, reach, tally.sites, warps);
    if (log.segments.size() >= Recording::most_segments) {
      // The rest of a long way is taken to be like its beginning.
      const double traced = std::accumulate(log.segments.begin(), log.segments.end(), 0.0, [&](double sum, std::uint32_t s) { return sum + program.segments[s].weight; });
      cycles *= std::max(1.0, tally.total.warp_instructions / (static_cast<double>(profile.blocks) * warps) / traced);
    }
    profile.warp_cycles = std::max(profile.warp_cycles, cycles);
  }
  profile.warp_cycles += typical.slept_ns * 1e-9 * facts_.clock_hz;
  profile.longest_cycles = longest_cycles(launch, longest, typical, profile.warp_cycles, reach, tally.sites);
  add_spills(kernel.resources, program, residency, profile);
  profile.counters.dram_read_bytes = profile.traffic.dram_read_bytes;
  profile.counters.dram_write_bytes = profile.traffic.dram_write_bytes;
  profile.counters.l2_bytes = 32 * (profile.traffic.l2_read_sectors + profile.traffic.l2_write_sectors);
  return profile;
}

}  // namespace cudal1::sim
