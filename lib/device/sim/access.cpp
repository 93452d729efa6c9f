// SPDX-License-Identifier: Apache-2.0
#include "sim/access.hpp"

#include "sim/cluster.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

using Kind = outcome::Finding::Kind;

namespace {

std::uint32_t data_row(const Warp& warp, const Instruction& i, unsigned count, unsigned k) {
  return count == 1 ? i.d : warp.worker->launch->program->lists[i.list + k];
}

Place place_in(Warp& warp, const Instruction& i, Space space, int lane, std::uint64_t offset, unsigned bytes) {
  Place place;
  place.space = space == Space::cluster ? Space::shared : space;
  if (space == Space::shared || space == Space::cluster) {
    Block* named = warp.block;
    if (space == Space::cluster && (warp.block->cluster || block_at(*warp.block, static_cast<std::uint32_t>(offset)))) {
      named = named_block(warp, i, lane, static_cast<std::uint32_t>(offset));
      if (!named) return {};
      offset = static_cast<std::uint32_t>(offset) & cluster_offset_mask;
    }
    Block& block = *named;
    // Addresses in shared memory have 32 bits: nvcc lets a sum wrap around that is kept in 64.
    if (const auto wrapped = static_cast<std::uint32_t>(offset); wrapped < block.shared_bytes) offset = wrapped;
    if (offset > block.shared_bytes || bytes > block.shared_bytes - offset) {
      const auto name = static_cast<std::uint32_t>(offset) >> cluster_rank_shift;
      if (space == Space::shared && block.cluster && name > 0 && name <= block.cluster->blocks.size()) {
        report(warp, i, Kind::out_of_bounds, lane, offset, "takes an address of another block of the cluster for one of its own; use .shared::cluster or a generic address");
        return {};
      }
      report(warp, i, Kind::out_of_bounds, lane, offset,
             fmt::format("accesses {} bytes at offset {} of {} bytes of shared memory", bytes, static_cast<std::int64_t>(offset), block.shared_bytes));
      return {};
    }
    place.host = block.shared + offset;
    place.owner = &block;
    place.flags = block.shared_written.data();
  } else {
    const std::size_t size = warp.worker->launch->program->local_bytes;
    if (offset > size || bytes > size - offset) {
      report(warp, i, Kind::out_of_bounds, lane, offset,
             fmt::format("accesses {} bytes at offset {} of {} bytes of local memory", bytes, static_cast<std::int64_t>(offset), size));
      return {};
    }
    place.host = warp.local + static_cast<std::size_t>(lane) * size + offset;
    place.flags = warp.local_written;
    offset += static_cast<std::size_t>(lane) * size;
  }
  place.offset = offset;
  return place;
}

}  // namespace

Place resolve(Warp& warp, const Instruction& i, Space space, int lane, std::uint64_t address, unsigned bytes) {
  if (address % bytes) {
    report(warp, i, Kind::misaligned, lane, address, fmt::format("accesses {} bytes at an address that is not a multiple of {}", bytes, bytes));
    return {};
  }
  if (space == Space::shared || space == Space::local || space == Space::cluster) return place_in(warp, i, space, lane, address, bytes);
  if (space == Space::generic) {
    if (address - shared_window < window_bytes) return place_in(warp, i, Space::cluster, lane, address - shared_window, bytes);
    if (address - local_window < window_bytes) return place_in(warp, i, Space::local, lane, address - local_window, bytes);
  }
  GlobalMemory& memory = *warp.worker->launch->memory;
  Allocation* allocation = memory.find(address, address + bytes);
  if (!allocation) {
    const Allocation* near = memory.nearest(address);
    std::string where = "no buffer is anywhere near";
    if (near && address >= near->base)
      where = fmt::format("{} bytes past the end of {} ({} bytes)", address + bytes - (near->base + near->bytes), near->name, near->bytes);
    else if (near)
      where = fmt::format("{} bytes before {}", near->base - address, near->name);
    if (address < 4096) where = "the address is null";
    report(warp, i, Kind::out_of_bounds, lane, address, fmt::format("accesses {} bytes that belong to no buffer: {}", bytes, where));
    return {};
  }
  return {allocation->host + (address - allocation->base), allocation->written, address - allocation->base, allocation, Space::global, nullptr};
}

// What an access of the lanes in `done` costs, those in `shared` to shared memory, and whether it races.
static void count_access(Warp& warp, const Instruction& i, Space space, unsigned bytes, const std::uint64_t* addresses, std::uint32_t done, std::uint32_t shared,
                         bool store) {
  Site& site = warp.worker->sites[i.site];
  if (shared) {
    const unsigned waves = count_wavefronts(addresses, shared, bytes);
    site.wavefronts += waves;
    site.ideal += std::max(1u, bytes / 4);
    if (warp.block->race_check) shared_race(warp, i, addresses, shared, bytes, store);
  }
  if (done & ~shared) {
    if (space == Space::local) {
      // A lane's words lie apart: each is an access of its own to neighbouring words of the other lanes.
      site.sectors += std::max(1u, bytes / 4) * count_sectors(addresses, done, std::min(bytes, 4u));
    } else {
      site.sectors += count_sectors(addresses, done & ~shared, bytes);
    }
    if (space != Space::local && warp.worker->launch->global_races) {
      for (std::uint32_t rest = done & ~shared; rest; rest &= rest - 1) {
        const std::uint64_t address = addresses[std::countr_zero(rest)];
        if (Allocation* allocation = warp.worker->launch->memory->find(address, address + bytes))
          global_race(warp, i, *allocation, addresses, rest & (0 - rest), bytes, store);
      }
    }
  }
}

// An access to other blocks' shared memory.
static void count_far(Site& site, const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes) {
  site.wavefronts += count_wavefronts(offsets, mask, bytes);
  site.ideal += std::max(1u, bytes / 4);
}

void access_by_lane(Warp& warp, const Instruction& i, Space space, unsigned width, unsigned count, bool store) {
  const auto* base = row<const std::uint64_t>(warp, i.a);
  const unsigned bytes = width * count;
  Site& site = warp.worker->sites[i.site];
  alignas(64) std::uint64_t addresses[32] = {};
  std::uint32_t done = 0, shared = 0, far = 0;
  ++site.requests;
  for (std::uint32_t rest = warp.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = base[lane] + static_cast<std::uint64_t>(i.immediate);
    const Place place = resolve(warp, i, space, lane, address, bytes);
    if (!place.host) {
      if (!store)
        for (unsigned k = 0; k < count; ++k) std::memset(warp.rows + data_row(warp, i, count, k) + static_cast<unsigned>(lane) * width, 0, width);
      continue;
    }
    done |= 1u << lane;
    addresses[lane] = place.space == Space::shared ? place.offset : space == Space::local ? local_place(address, static_cast<unsigned>(lane)) : address;
    if (place.space == Space::shared) shared |= 1u << lane;
    if (place.owner && place.owner != warp.block) {
      far |= 1u << lane;
      touch(warp, i, lane, *place.owner, place.offset, bytes, store ? Touch::store : Touch::load);
    }
    ++site.lane_accesses;
    for (unsigned k = 0; k < count; ++k) {
      std::byte* value = warp.rows + data_row(warp, i, count, k) + static_cast<unsigned>(lane) * width;
      if (store) std::memcpy(place.host + k * width, value, width);
      else std::memcpy(value, place.host + k * width, width);
    }
    if (store) {
      note_store(place.allocation);
      if (place.flags) set_written(place.flags, place.offset, bytes);
      continue;
    }
    if (!place.flags || !warp.worker->launch->report_unwritten) continue;
    const std::size_t first = place.offset / 4, last = (place.offset + bytes - 1) / 4;
    bool in_flight = false;
    for (std::size_t word = first; word <= last; ++word) in_flight |= (place.flags[word] & word_in_flight) != 0;
    if (in_flight)
      report(warp, i, Kind::in_flight_read, lane, address, "reads shared memory that an asynchronous copy has not delivered yet; wait for the copy first");
    else if (!all_written(place.flags, place.offset, bytes))
      report(warp, i, Kind::uninitialised, lane, address, "reads memory that nobody has written");
  }
  if (far) count_far(site, addresses, far, bytes);
  if (done & ~far) count_access(warp, i, space, bytes, addresses, done & ~far, shared & ~far, store);
}

unsigned count_sectors(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes) {
  std::uint64_t seen[64];
  unsigned count = 0;
  for (; mask; mask &= mask - 1) {
    const std::uint64_t address = addresses[std::countr_zero(mask)];
    for (std::uint64_t sector = address >> 5; sector <= (address + bytes - 1) >> 5; ++sector) {
      // Neighbouring lanes share sectors most often, so the newest are looked at first.
      unsigned j = count;
      while (j > 0 && seen[j - 1] != sector) --j;
      if (j == 0 && count < 64) seen[count++] = sector;
    }
  }
  return count;
}

unsigned count_wavefronts(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes) {
  // Wide accesses are served in parts of 128 bytes: half warps at 8 bytes, quarters at 16.
  const unsigned words = std::max(1u, bytes / 4), lanes_per_part = 32 / words;
  unsigned total = 0;
  for (unsigned part = 0; part < words; ++part) {
    std::uint64_t seen[64];
    unsigned count = 0, worst = 0;
    std::uint8_t load[32] = {};
    for (unsigned lane = part * lanes_per_part; lane < (part + 1) * lanes_per_part; ++lane) {
      if (!(mask >> lane & 1)) continue;
      for (unsigned k = 0; k < words; ++k) {
        const std::uint64_t word = addresses[lane] / 4 + k;
        unsigned j = count;
        while (j > 0 && seen[j - 1] != word) --j;
        if (j > 0) continue;
        seen[count++] = word;
        worst = std::max<unsigned>(worst, ++load[word % 32]);
      }
    }
    total += worst;
  }
  return std::max(1u, total);
}

}  // namespace cudal1::sim
