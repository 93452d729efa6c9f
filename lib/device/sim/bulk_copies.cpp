// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, plain and by tensor map, and fence.proxy.async. A copy to shared memory moves its bytes at once; they count as in
// flight until somebody asks the mbarrier that counts them. A copy from shared memory pins its bytes until its group is waited for.
#include "sim/access.hpp"
#include "sim/asynchrony.hpp"
#include "sim/bulk_reduction.hpp"
#include "sim/bulk_shadows.hpp"
#include "sim/cluster.hpp"
#include "sim/families.hpp"
#include "sim/tensor_map.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = outcome::Finding::Kind;

constexpr u32 piece_bytes = 16;

const u32* list_of(const Warp& w, const Instruction& i) { return w.worker->launch->program->lists.data() + i.list; }
u64 at(const Warp& w, u32 address, u32 offset, int lane) {
  return row<const u64>(w, address)[lane] + static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(offset)));
}

// An address of shared memory as an offset, whichever window it is given in.
u64 shared_offset(u64 address) {
  if (address - shared_window < window_bytes) return address - shared_window;
  return static_cast<u32>(address);
}

// One run of bytes in global memory, checked and counted.
std::byte* global_run(Warp& w, const Instruction& i, int lane, u64 address, u32 bytes, bool store, bool reduces = false) {
  const Launch& launch = *w.worker->launch;
  Allocation* allocation = launch.memory->find(address, address + bytes);
  if (!allocation) {
    resolve(w, i, Space::global, lane, address / piece_bytes * piece_bytes, 1);
    const Allocation* near = launch.memory->nearest(address);
    report(w, i, Kind::out_of_bounds, lane, address,
           fmt::format("a bulk copy of {} bytes leaves {}", bytes, near ? fmt::format("{} ({} bytes)", near->name, near->bytes) : std::string("every buffer")));
    return nullptr;
  }
  const u64 offset = address - allocation->base;
  if (reduces && allocation->written && launch.report_unwritten && !all_written(allocation->written, offset, bytes))
    report(w, i, Kind::uninitialised, lane, address, "reduces into memory that nobody has written");
  if (store) {
    note_store(allocation);
    if (allocation->written) set_written(allocation->written, offset, bytes);
  } else if (allocation->written && launch.report_unwritten && !all_written(allocation->written, offset, bytes)) {
    report(w, i, Kind::uninitialised, lane, address, "copies memory that nobody has written");
  }
  if (launch.global_races && allocation->watched && !reduces) {
    u64 places[32] = {};
    for (u32 k = 0; k < bytes; k += 4) {
      places[lane] = address + k;
      global_race(w, i, *allocation, places, 1u << lane, 4, store);
    }
  }
  Site& site = w.worker->sites[i.site];
  site.sectors += ((address + bytes - 1) >> 5) - (address >> 5) + 1;
  site.lane_accesses += bytes;
  return allocation->host + offset;
}

void count(Warp& w, const Instruction& i, u64 address, u64 step, u32 lines, u32 bytes) {
  Site& site = w.worker->sites[i.site];
  ++site.requests;
  if (w.block->recording) record_lines(w, i, address, step, lines, bytes);
}

void race(Warp& w, const Instruction& i, int lane, Block& block, u64 offset, u32 bytes, bool store) {
  if (&block != w.block) return touch(w, i, lane, block, offset, bytes, store ? Touch::store : Touch::load);
  if (!block.race_check) return;
  u64 places[32] = {};
  for (u32 k = 0; k < bytes; k += piece_bytes) {
    places[lane] = offset + k;
    shared_race(w, i, places, 1u << lane, piece_bytes, store);
  }
}

// Where a copy to shared memory goes.
struct Target {
  Block* block = nullptr;
  u64 offset = 0, barrier = 0;
};

// The bytes are there, in flight until the target's barrier has counted them.
void arrive(Warp& w, const Instruction& i, int lane, const Target& target, u32 bytes, u32 layout, const std::vector<u32>& clocks) {
  Block& block = *target.block;
  Asynchrony& async = *block.asynchrony;
  for (u64 word = target.offset / 4; word < (target.offset + bytes) / 4; ++word) block.shared_written[word] = word_written | word_proxied | word_in_flight;
  for (u64 chunk = target.offset / piece_bytes; chunk < (target.offset + bytes) / piece_bytes; ++chunk) async.layouts[chunk] = static_cast<std::uint8_t>(layout);
  race(w, i, lane, block, target.offset, bytes, true);
  async.arrivals.push_back({static_cast<u32>(target.offset), bytes, static_cast<u32>(target.barrier), w.index, i.statement, w.block->rank, clocks});
  block.idle_tests = 0;
}

// The blocks that a copy goes to: the one that its address names, or those of a multicast mask. None, with a finding, where it cannot.
std::vector<Target> targets(Warp& w, const Instruction& i, int lane, u64 to, u64 barrier, u32 mask_row, u32 bytes) {
  const u32 place = static_cast<u32>(shared_offset(to)), signal = static_cast<u32>(shared_offset(barrier));
  Block *named = named_block(w, i, lane, place), *signalled = named_block(w, i, lane, signal);
  if (!named || !signalled) return {};
  if (named != signalled) {
    report(w, i, Kind::other, lane, to, "a bulk copy goes to the shared memory of one block and its mbarrier is in another's; both belong to the block that it goes to");
    return {};
  }
  const u64 offset = place & cluster_offset_mask, at_barrier = signal & cluster_offset_mask;
  std::vector<Target> all;
  if (mask_row == nowhere) {
    all.push_back({named, offset, at_barrier});
  } else {
    const u32 mask = row<const std::uint16_t>(w, mask_row)[lane], size = w.block->cluster ? static_cast<u32>(w.block->cluster->blocks.size()) : 1;
    if (mask == 0 || mask >> size != 0) {
      report(w, i, Kind::out_of_bounds, lane, to, fmt::format("a multicast names ranks {:#x} of a cluster of {}", mask, size));
      return {};
    }
    for (u32 rank = 0; rank < size; ++rank)
      if (mask >> rank & 1) all.push_back({w.block->cluster ? w.block->cluster->blocks[rank] : w.block, offset, at_barrier});
  }
  for (const Target& target : all) {
    asynchrony(*target.block);
    if (!writable(w, i, lane, *target.block, target.offset, bytes)) return {};
    if (target.barrier % 8 != 0 || target.barrier + 8 > target.block->shared_bytes) {
      report(w, i, Kind::out_of_bounds, lane, target.barrier, "the mbarrier of a bulk copy does not lie in shared memory, at a multiple of 8");
      return {};
    }
  }
  return all;
}

bool aligned(Warp& w, const Instruction& i, int lane, u64 address, u32 alignment, const char* what) {
  if (address % alignment == 0) return true;
  report(w, i, Kind::misaligned, lane, address, fmt::format("{} of a bulk copy is a multiple of {} bytes", what, alignment));
  return false;
}

Asynchrony::Group& open_store(Warp& w, const Instruction& i) {
  auto& open = asynchrony(*w.block).warps[w.index].bulk_open;
  open.emplace_back();
  open.back().statement = i.statement;
  return open.back();
}

bool take_shared(Warp& w, const Instruction& i, int lane, u64 offset, u32 bytes, Asynchrony::Group& group) {
  for (u32 k = 0; k < bytes; k += piece_bytes) {
    if (!readable(w, i, lane, offset + k, "a bulk copy")) return false;
    pin(*w.block, group, static_cast<u32>((offset + k) / piece_bytes));
  }
  race(w, i, lane, *w.block, offset, bytes, false);
  return true;
}

// d: shared, a: global or the block's own shared memory, b: barrier, c: bytes; list: their offsets, a multicast's mask, whether from shared.
void load(Warp& w, const Instruction& i) {
  const u32* list = list_of(w, i);
  asynchrony(*w.block);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 to = at(w, i.d, list[0], lane), from = at(w, i.a, list[1], lane);
    const u32 bytes = row<const u32>(w, i.c)[lane];
    if (!aligned(w, i, lane, to, piece_bytes, "the target") || !aligned(w, i, lane, from, piece_bytes, "the source") || !aligned(w, i, lane, bytes, piece_bytes, "the size")) continue;
    if (bytes == 0) continue;
    const std::vector<Target> into = targets(w, i, lane, to, at(w, i.b, list[2], lane), list[3], bytes);
    if (into.empty()) continue;
    const std::byte* source = nullptr;
    BulkShadows shadows(w, bytes);
    if (list[4]) {
      Asynchrony::Group passing;   // its source is free again when the target's barrier completes, which nobody here can tell
      if (!take_shared(w, i, lane, shared_offset(from), bytes, passing)) continue;
      release(w, passing, "a bulk copy");
      source = w.block->shared + shared_offset(from);
      shadows.take_shared(*w.block, shared_offset(from), 0, bytes);
    } else {
      source = global_run(w, i, lane, from, bytes, false);
      if (!source) continue;
      count(w, i, from, 128, (bytes + 127) / 128, std::min(128u, bytes));
      shadows.take_global(from, 0, bytes);
    }
    const std::vector<u32> known = clocks_of(w);
    for (const Target& target : into) {
      std::memmove(target.block->shared + target.offset, source, bytes);
      shadows.give_shared(*target.block, target.offset, 0, bytes);
      arrive(w, i, lane, target, bytes, 0, known);
    }
    advance_clock(w);
  }
}

// Bytes to global memory at `address`, `reduction` being 1 + how they are joined with what is there, 0: they replace it; their shadows lie
// at `place`. Of reductions a sum of floats alone keeps its shadow.
void give(u32 reduction, Element element, std::byte* target, u64 address, const std::byte* source, BulkShadows& shadows, u32 place, u32 bytes) {
  if (reduction == 0) {
    std::memcpy(target, source, bytes);
    shadows.give_global(address, place, bytes);
    return;
  }
  const bool sum = shadows.on() && reduction == 1 + static_cast<u32>(BulkReduction::add) && element == Element::f32;
  const std::vector<std::byte> before(target, target + (sum ? bytes : 0));
  bulk_reduce(static_cast<BulkReduction>(reduction - 1), element, target, source, bytes);
  if (sum) shadows.add_global(address, place, before.data(), source, target, bytes);
}

// d: global, a: shared, c: bytes; list: their offsets; extra: 1 + the reduction, 0: a plain copy; immediate: its Element.
void store(Warp& w, const Instruction& i) {
  const u32* list = list_of(w, i);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u64 to = at(w, i.d, list[0], lane), from = shared_offset(at(w, i.a, list[1], lane));
    const u32 bytes = row<const u32>(w, i.c)[lane];
    if (!aligned(w, i, lane, to, piece_bytes, "the target") || !aligned(w, i, lane, from, piece_bytes, "the source") || !aligned(w, i, lane, bytes, piece_bytes, "the size")) continue;
    Asynchrony::Group& group = open_store(w, i);
    if (bytes == 0 || !take_shared(w, i, lane, from, bytes, group)) continue;
    std::byte* target = global_run(w, i, lane, to, bytes, true, i.extra != 0);
    if (!target) continue;
    count(w, i, to, 128, (bytes + 127) / 128, std::min(128u, bytes));
    BulkShadows shadows(w, bytes);
    shadows.take_shared(*w.block, from, 0, bytes);
    give(i.extra, static_cast<Element>(i.immediate), target, to, w.block->shared + from, shadows, 0, bytes);
  }
}

void commit(Warp& w, const Instruction&) {
  if (!w.mask) return;
  auto& state = asynchrony(*w.block).warps[w.index];
  state.bulk_groups.push_back(std::move(state.bulk_open));
  state.bulk_open = {};
}

void wait(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  auto& groups = asynchrony(*w.block).warps[w.index].bulk_groups;
  while (groups.size() > static_cast<std::size_t>(std::max<std::int64_t>(0, i.immediate))) {
    for (const Asynchrony::Group& group : groups.front()) release(w, group, "a bulk copy");
    groups.pop_front();
  }
}

const TensorMapHandle* map_at(Warp& w, const Instruction& i, int lane, u64 address, TensorMapHandle& map) {
  const Launch& launch = *w.worker->launch;
  const Allocation* allocation = launch.memory->find(address, address + 128);
  if (address % 64 == 0 && allocation) std::memcpy(&map, allocation->host + (address - allocation->base), sizeof map);
  if (address % 64 == 0 && allocation && map.magic == TensorMapHandle::is_one) return &map;
  report(w, i, Kind::other, lane, address,
         "a tensor copy is given an address where no tensor map is; pass one as tensor_map(…) in the launch, to a parameter `const __grid_constant__ CUtensorMap`");
  return nullptr;
}

u32 bits_at(const std::byte* bytes) {
  u32 word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// To nearest, ties to even, every NaN the same: as an H200's copy engine does it.
u32 to_tf32(u32 bits) {
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffe000u;
  return (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
}

// Moves the box at `coordinates` row by row; `move` is given the row's place in shared memory, how many of its bytes lie before and
// inside the tensor, and where those are (0: none).
template <class Move>
void each_row(const TensorMapHandle& map, const std::int64_t* coordinates, Move move) {
  const u32 row_bytes = static_cast<u32>(map.box[0]) * map.element_bytes;
  u32 rows = 1;
  for (u32 axis = 1; axis < map.rank; ++axis) rows *= map.box[axis];
  for (u32 r = 0; r < rows; ++r) {
    u64 address = map.address;
    bool inside = true;
    u32 rest = r;
    for (u32 axis = 1; axis < map.rank; ++axis) {
      const std::int64_t index = coordinates[axis] + rest % map.box[axis];
      rest /= map.box[axis];
      inside &= index >= 0 && index < static_cast<std::int64_t>(map.extent[axis]);
      address += static_cast<u64>(index) * map.stride[axis - 1];
    }
    const std::int64_t first = std::clamp<std::int64_t>(-coordinates[0], 0, map.box[0]);
    const std::int64_t last = std::clamp<std::int64_t>(static_cast<std::int64_t>(map.extent[0]) - coordinates[0], first, map.box[0]);
    const u32 before = static_cast<u32>(first) * map.element_bytes, bytes = inside ? static_cast<u32>(last - first) * map.element_bytes : 0;
    move(r * row_bytes, before, bytes, bytes == 0 ? 0 : address + static_cast<u64>(coordinates[0] + first) * map.element_bytes);
  }
}

// Logic is done on the bits of whatever type the map has.
Element bits_where_needed(Element element, u32 reduction) {
  if (reduction < static_cast<u32>(BulkReduction::bit_and)) return element;
  return bytes_of(element) == 8 ? Element::b64 : bytes_of(element) == 4 ? Element::b32 : element;
}

u64 swizzled(u64 offset, u32 pieces) { return offset ^ (offset >> 7 & (pieces - 1)) << 4; }

// d: shared, a: the map, b: the barrier (loads); list: their offsets, rank, a multicast's mask, coordinates. Of stores extra: 1 + the
// reduction, 0: a plain copy.
template <bool stores>
void tensor(Warp& w, const Instruction& i) {
  const u32* list = list_of(w, i);
  asynchrony(*w.block);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    TensorMapHandle map;
    if (!map_at(w, i, lane, at(w, i.a, list[1], lane), map)) continue;
    if (map.rank != list[3]) {
      report(w, i, Kind::other, lane, 0, fmt::format("a tensor copy of {} dimensions uses a map of {}", list[3], map.rank));
      continue;
    }
    std::int64_t coordinates[5] = {};
    for (u32 axis = 0; axis < map.rank; ++axis) coordinates[axis] = static_cast<std::int32_t>(row<const u32>(w, list[5 + axis])[lane]);
    const u64 named = shared_offset(at(w, i.d, list[0], lane)), base = stores ? named : named & cluster_offset_mask;
    u32 bytes = map.element_bytes;
    for (u32 axis = 0; axis < map.rank; ++axis) bytes *= map.box[axis];
    if (stores && i.extra != 0 && !has_bulk_reduction(static_cast<BulkReduction>(i.extra - 1), bits_where_needed(map.element, i.extra - 1))) {
      report(w, i, Kind::other, lane, 0, "a tensor copy reduces elements of a type that has no such reduction");
      continue;
    }
    std::vector<Target> into;
    if (!aligned(w, i, lane, base, 128, "the address in shared memory")) continue;
    if constexpr (!stores) {
      into = targets(w, i, lane, named, at(w, i.b, list[2], lane), list[4], bytes);
      if (into.empty()) continue;
    }
    Asynchrony::Group* group = stores ? &open_store(w, i) : nullptr;
    if (stores && !take_shared(w, i, lane, base, bytes, *group)) continue;
    const Element element = i.extra == 0 ? map.element : bits_where_needed(map.element, i.extra - 1);
    Site& site = w.worker->sites[i.site];
    ++site.requests;
    const u32 row_bytes = static_cast<u32>(map.box[0]) * map.element_bytes;
    each_row(map, coordinates, [&](u32 offset, u32 before, u32 inside, u64 address) {
      std::byte buffer[256 * 8] = {};
      BulkShadows shadows(w, row_bytes);
      std::byte* run = inside ? global_run(w, i, lane, address, inside, stores, stores && i.extra != 0) : nullptr;
      if (run && w.block->recording) record_lines(w, i, address, inside, 1, inside);
      if constexpr (!stores) {
        if (run) std::memcpy(buffer + before, run, inside), shadows.take_global(address, before, inside);
        if (map.rounds_to_tf32)
          for (u32 k = 0; k < row_bytes; k += 4) {
            const u32 bits = bits_at(buffer + k), rounded = to_tf32(bits);
            std::memcpy(buffer + k, &rounded, 4);
            shadows.rename(k, bits, rounded);
          }
      }
      for (u32 k = 0; k < row_bytes; k += piece_bytes) {
        const u64 place = swizzled(base + offset + k, map.swizzle_pieces);
        if (stores) std::memcpy(buffer + k, w.block->shared + place, piece_bytes), shadows.take_shared(*w.block, place, k, piece_bytes);
        for (const Target& target : into) std::memcpy(target.block->shared + place, buffer + k, piece_bytes), shadows.give_shared(*target.block, place, k, piece_bytes);
      }
      if (stores && run) give(i.extra, element, run, address, buffer + before, shadows, before, inside);
    });
    const std::vector<u32> known = clocks_of(w);
    for (const Target& target : into) arrive(w, i, lane, target, bytes, map.swizzle_pieces, known);
    if (!into.empty()) advance_clock(w);
  }
}

void fence(Warp& w, const Instruction&) {
  if (w.mask) fence_proxy(w);
}

void both(Operations& table, const std::string& name, Handler handler) { table[name] = {"", handler, handler}; }

}  // namespace

void add_bulk_copies(Operations& table) {
  both(table, "_bulk.load", &load);
  both(table, "_bulk.store", &store);
  both(table, "_bulk.commit", &commit);
  both(table, "_bulk.wait", &wait);
  both(table, "_bulk.tensor.load", &tensor<false>);
  both(table, "_bulk.tensor.store", &tensor<true>);
  both(table, "_fence.proxy", &fence);
}

}  // namespace cudal1::sim
