// SPDX-License-Identifier: Apache-2.0
#include "sim/asynchrony.hpp"

#include "sim/access.hpp"
#include "sim/cluster.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = outcome::Finding::Kind;

constexpr u32 words = Asynchrony::chunk_bytes / 4;

WordFlags* flags_of(Block& block, u32 chunk) { return block.shared_written.data() + chunk * words; }

// Who wrote a chunk's first touched word last; nowhere where nobody looks for races.
u32 writer_statement(const Block& block, u32 chunk, const Program& program) {
  if (!block.race_check) return nowhere;
  const u32 granules = words * 4 / program.shared_granule;
  for (u32 g = 0; g < granules; ++g) {
    const std::size_t at = static_cast<std::size_t>(chunk) * granules + g;
    if (!(block.shared_written[at * program.shared_granule / 4] & word_pinned) && block.races.writer[at] != 0) return block.races.writer_at[at];
  }
  return nowhere;
}

}  // namespace

Asynchrony& asynchrony(Block& block) {
  if (!block.asynchrony) {
    block.asynchrony = std::make_shared<Asynchrony>();
    block.asynchrony->pins.assign(block.shared_bytes / Asynchrony::chunk_bytes + 2, 0);
    block.asynchrony->layouts.assign(block.shared_bytes / Asynchrony::chunk_bytes + 2, 0);
    block.asynchrony->warps.resize(block.warps.size());
  }
  return *block.asynchrony;
}

void deliver_arrivals(Block& block, u32 barrier, void (*count)(Block&, u32, u32)) {
  auto& arrivals = block.asynchrony->arrivals;
  for (std::size_t k = 0; k < arrivals.size();) {
    if (arrivals[k].barrier != barrier) {
      ++k;
      continue;
    }
    const Asynchrony::Arrival arrival = arrivals[k];
    arrivals.erase(arrivals.begin() + static_cast<std::ptrdiff_t>(k));
    for (u32 word = arrival.offset / 4; word < (arrival.offset + arrival.bytes) / 4; ++word) block.shared_written[word] &= static_cast<WordFlags>(~word_in_flight);
    publish(block, barrier, arrival.clocks);
    count(block, barrier, arrival.bytes);
  }
}

void pin(Block& block, Asynchrony::Group& group, u32 chunk) {
  Asynchrony& async = *block.asynchrony;
  if (async.pins[chunk] == std::numeric_limits<std::uint16_t>::max()) return;
  if (async.pins[chunk]++ == 0)
    for (u32 k = 0; k < words; ++k) flags_of(block, chunk)[k] |= word_pinned;
  group.chunks.push_back(chunk);
}

void release(Warp& w, const Asynchrony::Group& group, const char* reader) {
  Block& block = *w.block;
  Asynchrony& async = *block.asynchrony;
  const Program& program = *w.worker->launch->program;
  for (const u32 chunk : group.chunks) {
    WordFlags* flags = flags_of(block, chunk);
    bool whole = true;
    for (u32 k = 0; k < words; ++k) whole &= (flags[k] & word_pinned) != 0;
    if (!whole) {
      const u32 writer = writer_statement(block, chunk, program);
      const u32 statement = writer == nowhere ? group.statement : writer >> 5;
      report_at(w, std::min<u32>(statement, static_cast<u32>(program.statements.size() - 1)), Kind::shared_race, 0, chunk * Asynchrony::chunk_bytes,
                fmt::format("shared memory is overwritten while {} still reads it; wait for that first", reader));
    }
    if (--async.pins[chunk] == 0)
      for (u32 k = 0; k < words; ++k) flags[k] &= static_cast<WordFlags>(~word_pinned);
  }
}

bool readable(Warp& w, const Instruction& i, int lane, u64 offset, const char* reader) {
  Block& block = *w.block;
  if (offset % Asynchrony::chunk_bytes != 0 || offset + Asynchrony::chunk_bytes > block.shared_bytes) {
    report(w, i, Kind::out_of_bounds, lane, offset, fmt::format("{} reads 16 bytes at offset {} of {} bytes of shared memory", reader, offset, block.shared_bytes));
    return false;
  }
  if (!w.worker->launch->report_unwritten) return true;
  const WordFlags* flags = flags_of(block, static_cast<u32>(offset / Asynchrony::chunk_bytes));
  WordFlags all = 0xff, any = 0;
  for (u32 k = 0; k < words; ++k) all &= flags[k], any |= flags[k];
  if (any & word_in_flight)
    report(w, i, Kind::in_flight_read, lane, offset, fmt::format("{} reads shared memory that a copy has not delivered yet; wait for its barrier or group first", reader));
  else if ((all & word_written) != word_written)
    report(w, i, Kind::uninitialised, lane, offset, fmt::format("{} reads shared memory that nobody has written", reader));
  else if (!(all & word_proxied) && block.race_check)
    report(w, i, Kind::shared_race, lane, offset,
           fmt::format("{} reads what ordinary stores wrote without fence.proxy.async between them; let each writing thread run it after its stores and before the barrier", reader));
  return true;
}

bool writable(Warp& w, const Instruction& i, int lane, Block& block, u64 offset, unsigned bytes) {
  if (offset > block.shared_bytes || bytes > block.shared_bytes - offset) {
    report(w, i, Kind::out_of_bounds, lane, offset, fmt::format("copies {} bytes to offset {} of {} bytes of shared memory", bytes, offset, block.shared_bytes));
    return false;
  }
  const Asynchrony& async = *block.asynchrony;
  for (u64 chunk = offset / Asynchrony::chunk_bytes; chunk <= (offset + bytes - 1) / Asynchrony::chunk_bytes; ++chunk)
    if (async.pins[chunk] > 0) {
      report(w, i, Kind::shared_race, lane, offset, "copies into shared memory that wgmma or a bulk copy under way still reads; wait for that first");
      break;
    }
  return true;
}

// What the block wrote to others of its cluster.
static void fence_far(Warp& w, u32 epoch) {
  for (auto entry = w.block->asynchrony->far.begin(); entry != w.block->asynchrony->far.end();) {
    const auto [where, key] = *entry;
    if ((key & 0xffff0000u) == epoch && (key & 63) != w.index) {
      ++entry;
      continue;
    }
    Block& owner = *w.block->cluster->blocks[where.first];
    owner.shared_written[where.second] |= word_proxied;
    asynchrony(owner).layouts[where.second / words] = 0;
    entry = w.block->asynchrony->far.erase(entry);
  }
}

void fence_proxy(Warp& w) {
  Block& block = *w.block;
  Asynchrony& async = asynchrony(block);
  const u32 granule = w.worker->launch->program->shared_granule, per_word = 4 / granule;
  const std::size_t count = block.shared_bytes / 4;
  const u32 epoch = (block.epoch & 0xffff) << 16;
  for (std::size_t word = 0; word < count; ++word) {
    WordFlags& flags = block.shared_written[word];
    if ((flags & word_proxied) || (flags & word_written) == 0) continue;
    bool mine = true;
    for (u32 k = 0; k < per_word && block.race_check; ++k) {
      const u32 key = block.races.writer[word * per_word + k];
      mine &= (key & 0xffff0000u) != epoch || (key & 63) == w.index;
    }
    if (!mine) continue;
    flags |= word_proxied;
    async.layouts[word / words] = 0;
  }
  fence_far(w, epoch);
}

void finish(Block& block) {
  if (!block.asynchrony) return;
  Asynchrony& async = *block.asynchrony;
  const Program& program = *block.warps.front().worker->launch->program;
  for (const auto& arrival : async.arrivals)
    report_at((block.cluster ? *block.cluster->blocks[arrival.rank] : block).warps[arrival.warp], std::min<u32>(arrival.statement, static_cast<u32>(program.statements.size() - 1)), Kind::in_flight_read, 0, arrival.offset,
              "the block ends while this copy to its shared memory is under way; wait for its barrier first");
  for (std::size_t first = 0; first + 3 < async.warps.size(); first += 4)
    for (std::size_t k = 1; k < 4; ++k)
      if (async.warps[first + k].products != async.warps[first].products) {
        const u32 statement = std::max(async.warps[first].open.statement, async.warps[first + k].open.statement);
        report_at(block.warps[first + k], std::min<u32>(statement, static_cast<u32>(program.statements.size() - 1)), Kind::bad_warp_mask, 0, 0,
                  fmt::format("the four warps of a warpgroup run wgmma.mma_async {} and {} times; all four run each together", async.warps[first].products,
                              async.warps[first + k].products));
        break;
      }
}

namespace {

// Registers under way are named by their last group. A plain move takes that over to its target: compilers make such moves of
// accumulators that change their names, and no machine instruction comes of them.
void watch_registers(Warp& w, const Instruction& i, const StatementFacts& facts, Asynchrony::WarpState& state) {
  const auto under_way = [&](u32 group) { return group > state.done; };
  const bool move = facts.opcode.starts_with("mov.");
  u32 moved = 0, stamp = 0;
  bool known = false;
  for (const u32 r : facts.reads) {
    if (state.accumulator[r] == 0) continue;
    moved = std::max(moved, state.accumulator[r]);
    stamp = std::max(stamp, state.written_after[r]);
    known = true;
    if (under_way(state.accumulator[r]) && !move)
      report(w, i, Kind::in_flight_read, 0, 0, "reads an accumulator that wgmma is still adding to; wgmma.commit_group and wgmma.wait_group come first");
  }
  for (const u32 r : facts.writes) {
    if (move && known) {
      state.accumulator[r] = moved;
      state.written_after[r] = stamp;
      continue;
    }
    if (under_way(state.accumulator[r]))
      report(w, i, Kind::in_flight_read, 0, 0, "writes an accumulator that wgmma is still adding to; wgmma.commit_group and wgmma.wait_group come first");
    else if (under_way(state.operand[r]))
      report(w, i, Kind::in_flight_read, 0, 0, "writes a register that wgmma still reads as A; wgmma.commit_group and wgmma.wait_group come first");
    state.written_after[r] = state.fences + 1;
  }
}

}  // namespace

void watch(Warp& w, const Instruction& i) {
  const StatementFacts& facts = w.worker->launch->program->statements[i.statement];
  if (facts.opcode.starts_with("wgmma")) return;
  watch_registers(w, i, facts, w.block->asynchrony->warps[w.index]);
}

}  // namespace cudal1::sim
