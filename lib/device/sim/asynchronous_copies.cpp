// SPDX-License-Identifier: Apache-2.0
// cp.async: the bytes are copied at once, but their words count as in flight until the warp waits for their group, so that a
// read before the wait is seen. And mbarrier, which threads and copies arrive at.
#include "sim/access.hpp"
#include "sim/asynchrony.hpp"
#include "sim/cluster.hpp"
#include "sim/families.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// d: shared address, a: global address, b: bytes to read or an ignore predicate, extra: bytes;
// list: site of the shared write, offset of the shared address, whether b is a predicate.
void start(Warp& w, const Instruction& i) {
  const auto* lists = w.worker->launch->program->lists.data() + i.list;
  const u64 *to = row<const u64>(w, i.d), *from = row<const u64>(w, i.a);
  const u32 bytes = i.extra;
  if (w.block->recording) record(w, i, from, bytes);
  alignas(64) u64 reads[32] = {}, writes[32] = {};
  u32 read_mask = 0, write_mask = 0;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 target = to[lane] + static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(lists[1])));
    const u64 origin = from[lane] + static_cast<u64>(i.immediate);
    u32 taken = bytes;
    if (i.b != nowhere) taken = lists[2] ? (*row<const u32>(w, i.b) >> lane & 1 ? 0 : bytes) : std::min(bytes, row<const u32>(w, i.b)[lane]);
    const Place into = resolve(w, i, Space::shared, lane, target, bytes);
    if (!into.host) continue;
    std::memset(into.host, 0, bytes);
    if (taken) {
      if (origin % bytes) {
        report(w, i, outcome::Finding::Kind::misaligned, lane, origin, "an asynchronous copy reads from an address that is not a multiple of its size");
        continue;
      }
      std::byte buffer[16];
      bool whole = true;
      for (u32 k = 0; k < taken && whole; k += 4) {
        const u32 step = std::min(4u, taken - k);
        const Place out = resolve(w, i, Space::global, lane, origin + k, step == 3 ? 1 : step);
        whole = out.host != nullptr;
        if (!whole) break;
        if (out.flags && w.worker->launch->report_unwritten && !all_written(out.flags, out.offset, step))
          report(w, i, outcome::Finding::Kind::uninitialised, lane, origin + k, "copies memory that nobody has written");
        std::memcpy(buffer + k, out.host, step);
      }
      if (whole) std::memcpy(into.host, buffer, taken);
      reads[lane] = origin;
      read_mask |= 1u << lane;
    }
    for (u32 k = 0; k < bytes / 4; ++k) into.flags[into.offset / 4 + k] = word_written | word_in_flight;
    writes[lane] = target;
    write_mask |= 1u << lane;
    w.open_copies.pieces.push_back({static_cast<u32>(target), bytes});
  }
  if (read_mask) {
    Site& site = w.worker->sites[i.site];
    ++site.requests;
    site.lane_accesses += static_cast<u64>(std::popcount(read_mask));
    site.sectors += count_sectors(reads, read_mask, bytes);
  }
  if (write_mask) {
    Site& site = w.worker->sites[lists[0]];
    ++site.requests;
    site.ideal += std::max(1u, bytes / 4);
    site.wavefronts += count_wavefronts(writes, write_mask, bytes);
    if (w.block->race_check) shared_race(w, i, writes, write_mask, bytes, true);
  }
}

void commit(Warp& w, const Instruction&) {
  w.copies.push_back(std::move(w.open_copies));
  w.open_copies = {};
}

void deliver(Warp& w, const CopyGroup& group) {
  for (const CopyGroup::Piece& piece : group.pieces)
    for (u32 k = 0; k < piece.bytes / 4; ++k) w.block->shared_written[piece.offset / 4 + k] &= static_cast<WordFlags>(~word_in_flight);
}

// immediate: how many of the newest groups may stay; extra: the open group is waited for too.
void wait(Warp& w, const Instruction& i) {
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(0, i.immediate));
  const std::size_t done = w.copies.size() > keep ? w.copies.size() - keep : 0;
  for (std::size_t g = 0; g < done; ++g) deliver(w, w.copies[g]);
  w.copies.erase(w.copies.begin(), w.copies.begin() + static_cast<std::ptrdiff_t>(done));
  if (i.extra) {
    deliver(w, w.open_copies);
    w.open_copies.pieces.clear();
  }
}

// What an mbarrier's eight bytes hold here; programs may only pass them on.
struct MemoryBarrier {
  u64 pending : 20, expected : 20, bytes : 23, phase : 1;
};

struct BarrierPlace {
  MemoryBarrier* barrier = nullptr;
  Block* owner = nullptr;
  u64 offset = 0;
};

BarrierPlace barrier_at(Warp& w, const Instruction& i, int lane) {
  const Place place = resolve(w, i, static_cast<Space>(i.list), lane, row<const u64>(w, i.a)[lane] + static_cast<u64>(i.immediate), 8);
  if (place.host && place.flags) set_written(place.flags, place.offset, 8);
  if (place.host && !place.owner) {
    report(w, i, outcome::Finding::Kind::out_of_bounds, lane, row<const u64>(w, i.a)[lane], "an mbarrier lies in shared memory, not here");
    return {};
  }
  return {reinterpret_cast<MemoryBarrier*>(place.host), place.owner, place.offset};
}

void complete(Block& block, MemoryBarrier& barrier) {
  block.idle_tests = 0;
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.expected;
  barrier.phase ^= 1;
  complete_phase(block, static_cast<u64>(reinterpret_cast<const std::byte*>(&barrier) - block.shared));
  ++block.epoch;  // what was written before is ordered before what follows a wait
}

// Of the warp's own block: other blocks may only arrive.
BarrierPlace own_barrier_at(Warp& w, const Instruction& i, int lane, const char* what) {
  const BarrierPlace place = barrier_at(w, i, lane);
  if (!place.barrier || place.owner == w.block) return place;
  report(w, i, outcome::Finding::Kind::other, lane, row<const u64>(w, i.a)[lane], fmt::format("{} an mbarrier of another block of the cluster; only its own block may, others arrive there", what));
  return {};
}

void barrier_init(Warp& w, const Instruction& i) {
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u32 count = row<const u32>(w, i.b)[lane] & 0xfffff;
    if (MemoryBarrier* barrier = own_barrier_at(w, i, lane, "initialises").barrier) *barrier = {count, count, 0, 0};
  }
}

// b: a count; extra: 0 arrive, 1 arrive and expect b bytes, 2 expect b bytes, 3 when the copies so far are done, 4 the same
// counting as an arrival, 5 arrive for the last time. d takes the phase that was arrived at.
void barrier_arrive(Warp& w, const Instruction& i) {
  if (i.extra == 3 || i.extra == 4) {
    for (const CopyGroup& group : w.copies) deliver(w, group);
    deliver(w, w.open_copies);
    if (i.extra == 3) return;  // it adds an arrival and makes it
  }
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto [barrier, owner, offset] = barrier_at(w, i, lane);
    if (!barrier) continue;
    if (owner != w.block) touch(w, i, lane, *owner, offset, 0, Touch::update);
    if (i.d != nowhere) row<u64>(w, i.d)[lane] = barrier->phase;
    const u32 value = i.b == nowhere ? 1 : row<const u32>(w, i.b)[lane];
    if (i.extra == 1 || i.extra == 2) barrier->bytes += value & 0x7fffff;
    const u32 arrivals = i.extra == 2 ? 0 : i.extra == 0 || i.extra == 5 ? value : 1;
    if (arrivals > barrier->pending) {
      report(w, i, outcome::Finding::Kind::divergent_barrier, lane, 0, "more threads arrive at an mbarrier than it was initialised for");
      continue;
    }
    barrier->pending -= arrivals & 0xfffff;
    if (i.extra == 5) barrier->expected -= arrivals & 0xfffff;
    if (arrivals) publish(w, *owner, offset), complete(*owner, *barrier);
  }
}

// `bytes` wraps around: copies may be done before their bytes are expected.
void count_bytes(Block& block, u32 offset, u32 bytes) {
  MemoryBarrier& barrier = *reinterpret_cast<MemoryBarrier*>(block.shared + offset);
  barrier.bytes -= bytes & 0x7fffff;
  complete(block, barrier);
}

constexpr u32 most_idle_tests = 1 << 20;

// Every warp that runs asks for barriers that nothing changes any more.
void report_never(Warp& w, const Instruction& i, int lane, const MemoryBarrier& barrier) {
  const u32 open = barrier.bytes;
  const std::string bytes = open == 0 ? "" : open < 0x400000 ? fmt::format(", {} bytes that are expected and never copied", open)
                                                             : fmt::format(", and {} bytes more are copied than expected", 0x800000 - open);
  report(w, i, outcome::Finding::Kind::divergent_barrier, lane, row<const u64>(w, i.a)[lane] + static_cast<u64>(i.immediate),
         fmt::format("an mbarrier's phase never completes: {} of {} arrivals are missing{}", static_cast<u32>(barrier.pending), static_cast<u32>(barrier.expected), bytes));
  w.worker->launch->aborted = true;
}

// d: predicate, b: the phase arrived at, or (extra) its parity.
void barrier_test(Warp& w, const Instruction& i) {
  u32 done = 0;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const BarrierPlace place = own_barrier_at(w, i, lane, "asks");
    const MemoryBarrier* barrier = place.barrier;
    // A copy arrives as late as it can: when somebody asks.
    if (barrier && w.block->asynchrony) deliver_arrivals(*w.block, static_cast<u32>(place.offset), &count_bytes);
    const u64 phase = (i.extra ? row<const u32>(w, i.b)[lane] : row<const u64>(w, i.b)[lane]) & 1;
    const bool over = !barrier || barrier->phase != phase;
    done |= static_cast<u32>(over) << lane;
    if (over && barrier) take_over(w, *place.owner, place.offset);
    if (over) w.block->idle_tests = 0;
    else if (++w.block->idle_tests > most_idle_tests && !w.worker->launch->program->waits_for_blocks) report_never(w, i, lane, *barrier);
  }
  u32* p = row<u32>(w, i.d);
  *p = (*p & ~w.mask) | done;
}

}  // namespace

void add_asynchronous_copies(Operations& table) {
  table["_copy.start"] = {"", &start, &start};
  table["_copy.commit"] = {"", &commit, &commit};
  table["_copy.wait"] = {"", &wait, &wait};
  table["_mbarrier.init"] = {"", &barrier_init, &barrier_init};
  table["_mbarrier.arrive"] = {"", &barrier_arrive, &barrier_arrive};
  table["_mbarrier.test"] = {"", &barrier_test, &barrier_test};
}

}  // namespace cudal1::sim
