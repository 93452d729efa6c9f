// SPDX-License-Identifier: Apache-2.0
// Races in shared memory between warps and between diverged lanes of a warp, and in global memory between blocks.
#include "sim/access.hpp"
#include "sim/cluster.hpp"
#include "sim/ordering.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = outcome::Finding::Kind;

constexpr u32 several = 63;  // in place of a warp's number: more than one read it

u32 key_of(const Warp& w) { return (w.block->epoch & 0xffff) << 16 | (w.path & 0x3ff) << 6 | w.index; }
u32 epoch_of(u32 key) { return key >> 16; }
u32 path_of(u32 key) { return key >> 6 & 0x3ff; }
u32 warp_of(u32 key) { return key & 63; }

// Whether an access with `mine` conflicts with an earlier one of `other`. Within a warp only sides of a branch that have not
// met again conflict.
bool conflicts(const Warp& w, u32 other, u32 mine) {
  if (epoch_of(other) != epoch_of(mine)) return false;
  if (warp_of(other) != warp_of(mine)) return true;
  const u32 path = path_of(other);
  if (path == path_of(mine) || path == 0 || path_of(mine) == 0) return false;
  // Sides numbered so far; those since path_floor are still apart.
  const auto number = static_cast<std::int64_t>(w.paths), floor = static_cast<std::int64_t>(w.path_floor);
  const std::int64_t age = (number + 1023 - path) % 1023;
  if (age > number - floor) return false;
  for (const Frame& frame : w.stack)
    if (frame.path == path) return false;  // an enclosing side: the same lanes ran it
  return true;
}

void report_race(Warp& w, const Instruction& i, int lane, u64 offset, u32 key, u32 at, const char* what) {
  const Launch& launch = *w.worker->launch;
  const u32 statement = at >> 5;
  const int line = statement < launch.program->statements.size() ? launch.program->statements[statement].source_line : 0;
  const u32 other_warp = warp_of(key);
  const u32 thread = other_warp * 32 + (at & 31);
  const std::size_t before = w.worker->findings.size();
  report(w, i, Kind::shared_race, lane, offset,
         fmt::format("{} thread {}{} {}without a barrier between them", what, other_warp == several ? 0 : thread,
                     other_warp == several ? " and others" : "", line > 0 ? fmt::format("at line {} ", line) : ""));
  if (w.worker->findings.size() == before) return;
  outcome::Finding& finding = w.worker->findings.back();
  finding.buffer = "shared memory";
  finding.offset = static_cast<std::int64_t>(offset);
  finding.other_line = line;
  finding.other_block = w.block->index;
  if (other_warp != several)
    finding.other_thread = {thread % launch.block[0], thread / launch.block[0] % launch.block[1], thread / launch.block[0] / launch.block[1]};
}

// Checks and tags the granules [first, last].
void visit(Warp& w, const Instruction& i, int lane, u64 first, u64 last, u32 mine, bool store) {
  RaceTags& tags = w.block->races;
  const u32 here = i.statement << 5 | static_cast<u32>(lane);
  const u64 granule = w.worker->launch->program->shared_granule;
  for (u64 g = first; g <= last; ++g) {
    u32 &writer = tags.writer[g], &reader = tags.reader[g];
    const auto same_lane = [&](u32 key, u32 at) { return warp_of(key) == w.index && static_cast<int>(at & 31) == lane; };
    if (conflicts(w, writer, mine) && !same_lane(writer, tags.writer_at[g]))
      report_race(w, i, lane, g * granule, writer, tags.writer_at[g], store ? "writes what is written by" : "reads what is written by");
    if (store) {
      if (conflicts(w, reader, mine) && !same_lane(reader, tags.reader_at[g])) report_race(w, i, lane, g * granule, reader, tags.reader_at[g], "writes what is read by");
      writer = mine;
      tags.writer_at[g] = here;
    } else {
      const bool another = epoch_of(reader) == epoch_of(mine) && warp_of(reader) != warp_of(mine);
      // A second warp hides the first; from then on every warp's write is a race. Sides of one warp's branches hide each other.
      reader = another ? (mine & ~63u) | several : mine;
      tags.reader_at[g] = here;
    }
  }
}

void report_global_race(Warp& w, const Instruction& i, int lane, u64 address, const char* what, std::optional<u64> other) {
  const std::size_t before = w.worker->findings.size();
  report(w, i, Kind::global_race, lane, address, fmt::format("{} in the same launch, and nothing orders them", what));
  if (w.worker->findings.size() == before || !other) return;
  const auto& grid = w.worker->launch->grid;
  w.worker->findings.back().other_block = {static_cast<u32>(*other % grid[0]), static_cast<u32>(*other / grid[0] % grid[1]),
                                           static_cast<u32>(*other / grid[0] / grid[1])};
}

// What is ordered itself orders others and races with none of its kind.
void ordered_race(Warp& w, const Instruction& i, const u64* addresses, u32 mask, unsigned bytes, bool store) {
  if (i.extra != 0 || bytes < 4) return;
  for (; mask; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    for (u64 word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word) {
      const auto conflict = w.worker->launch->ordering->access(w, word, store);
      if (!conflict) continue;
      const char* what = !store ? "reads what another block writes" : conflict->store ? "writes what another block writes" : "writes what another block reads";
      report_global_race(w, i, lane, addresses[lane], what, conflict->block);
    }
  }
}

}  // namespace

void shared_race(Warp& w, const Instruction& i, const u64* offsets, u32 mask, unsigned bytes, bool store) {
  const u64 granule = w.worker->launch->program->shared_granule;
  const u32 mine = key_of(w);
  for (; mask; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    visit(w, i, lane, offsets[lane] / granule, (offsets[lane] + bytes - 1) / granule, mine, store);
    if (w.block->cluster) touch(w, i, lane, *w.block, offsets[lane], bytes, store ? Touch::store : Touch::load);
  }
}

void shared_race_runs(Warp& w, const Instruction& i, u64 base0, u64 base1, u64 stride0, u64 stride1, unsigned bytes, bool store) {
  const u64 granule = w.worker->launch->program->shared_granule;
  const u32 mine = key_of(w);
  const auto part = [&](u64 base, u64 stride, u64 run, int first_lane) {
    const u64 lanes = stride ? run : 1;
    if (w.block->cluster)
      for (u64 lane = 0; lane < lanes; ++lane) touch(w, i, first_lane + static_cast<int>(lane), *w.block, base + lane * stride, bytes, store ? Touch::store : Touch::load);
    const u64 first = base / granule, last = (base + (lanes - 1) * stride + bytes - 1) / granule;
    RaceTags& tags = w.block->races;
    // All of a run at once when nobody else was there in this epoch.
    const u32 epoch = mine & 0xffff0000u;
    u32 others = 0;
    u32 *writer = tags.writer.data() + first, *reader = tags.reader.data() + first;
    u32 *writer_at = tags.writer_at.data() + first, *reader_at = tags.reader_at.data() + first;
    const u64 count = last - first + 1;
    if (store) {
      for (u64 g = 0; g < count; ++g)
        others |= static_cast<u32>((writer[g] & 0xffff0000u) == epoch && writer[g] != mine) | static_cast<u32>((reader[g] & 0xffff0000u) == epoch && reader[g] != mine);
    } else {
      for (u64 g = 0; g < count; ++g) others |= static_cast<u32>((writer[g] & 0xffff0000u) == epoch && writer[g] != mine);
    }
    const u32 here = i.statement << 5;
    if (others) {
      for (u64 lane = 0; lane < lanes; ++lane) {
        const u64 offset = base + lane * stride;
        visit(w, i, first_lane + static_cast<int>(lane), offset / granule, (offset + bytes - 1) / granule, mine, store);
      }
    } else if (store) {
      for (u64 g = 0; g < count; ++g) writer[g] = mine, writer_at[g] = here | static_cast<u32>((g * granule / bytes + static_cast<u64>(first_lane)) & 31);
    } else {
      const u32 shared_key = (mine & ~63u) | several;
      for (u64 g = 0; g < count; ++g) {
        reader[g] = (reader[g] & 0xffff0000u) == epoch && ((reader[g] ^ mine) & 63) != 0 ? shared_key : mine;
        reader_at[g] = here | static_cast<u32>((g * granule / bytes + static_cast<u64>(first_lane)) & 31);
      }
    }
  };
  if (stride0 == stride1 && base1 == base0 + 16 * stride0) return part(base0, stride0, 32, 0);
  part(base0, stride0, 16, 0);
  part(base1, stride1, 16, 16);
}

// The tags are block numbers + 1. Stores of a value that stands there already are not told apart.
void global_race(Warp& w, const Instruction& i, Allocation& allocation, const u64* addresses, u32 mask, unsigned bytes, bool store) {
  if (!allocation.watched) return;
  if (w.worker->launch->ordering) return ordered_race(w, i, addresses, mask, bytes, store);
  const u32 mine = static_cast<u32>(party(*w.block)) + 1;
  const auto quiet = [&](u64 word) {
    const u32 writer = __atomic_load_n(&allocation.writers[word], __ATOMIC_RELAXED), reader = __atomic_load_n(&allocation.readers[word], __ATOMIC_RELAXED);
    return store ? writer == mine && (reader == 0 || reader == mine) : (writer == 0 || writer == mine) && (reader == mine || reader == ~0u);
  };
  for (; mask; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    const u64 offset = addresses[lane] - allocation.base;
    for (u64 word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      if (quiet(word)) continue;
      const u32 writer = store ? __atomic_exchange_n(&allocation.writers[word], mine, __ATOMIC_RELAXED) : __atomic_load_n(&allocation.writers[word], __ATOMIC_RELAXED);
      u32 other = writer != 0 && writer != mine ? writer : 0;
      const char* what = store ? "writes what another block writes" : "reads what another block writes";
      if (store) {
        const u32 reader = __atomic_load_n(&allocation.readers[word], __ATOMIC_RELAXED);
        if (other == 0 && reader != 0 && reader != mine) other = reader, what = "writes what another block reads";
      } else {
        u32 reader = __atomic_load_n(&allocation.readers[word], __ATOMIC_RELAXED);
        if (reader == 0) __atomic_store_n(&allocation.readers[word], mine, __ATOMIC_RELAXED);
        else if (reader != mine) __atomic_store_n(&allocation.readers[word], ~0u, __ATOMIC_RELAXED);
      }
      if (other == 0) continue;
      // A word may hold values of several blocks when elements are smaller.
      if (bytes < 4) continue;
      report_global_race(w, i, lane, addresses[lane], what, other == ~0u ? std::nullopt : std::optional<u64>(other - 1));
    }
  }
}

}  // namespace cudal1::sim
