// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cudal1::sim {

// Blocks that run together and reach each other's shared memory. What one does is ordered before what another does by barriers of
// the cluster and by mbarriers; clocks say it, as in FastTrack, a block being a thread there: nothing is blamed wrongly, but two
// warps of one block count as one.
struct Cluster {
  using Clock = std::uint32_t;
  using Clocks = std::vector<Clock>;   // by rank: what is known of a block up to when

  std::vector<Block*> blocks;          // by rank
  std::vector<bool> ended;
  std::vector<Clocks> known;           // by rank
  std::vector<std::uint32_t> met;      // by rank: blocks that are known to have begun
  Clocks arrived;                      // what arrivals at the cluster's barrier published
  Clocks released;                     // the same until it let go last: arrivals since belong to its next phase
  // At the mbarriers, by rank and offset: what arrivals of the phase under way publish, and what those of the phases before did.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Clocks> arriving, completed;
};

// What blocks do with a word of one block's shared memory.
struct ClusterTags {
  // By word: the block's own last accesses, and the last ones of another block: rank << 27 | clock. 0: none.
  std::vector<std::uint32_t> written, written_at, read, far_written, far_read, far_at;
  struct Last {
    Cluster::Clock clock = 0;
    std::uint32_t statement = 0, warp = 0;
  };
  std::vector<Last> last;              // by rank: the newest access of another block
};

enum class Touch : std::uint8_t { load, store, update };

// Generic addresses, and those of mapa, hold the rank + 1 here; 0: the block's own.
inline constexpr unsigned cluster_rank_shift = 24;
inline constexpr std::uint32_t cluster_offset_mask = (1u << cluster_rank_shift) - 1;

std::uint32_t cluster_size(const Launch& launch);
// The blocks of cluster number `cluster`, by rank.
std::vector<std::uint64_t> cluster_members(const Launch& launch, std::uint64_t cluster);
std::uint64_t cluster_of(const Launch& launch, std::uint64_t block);
// Every block of the clusters that hold these.
std::vector<std::uint64_t> whole_clusters(const Launch& launch, const std::vector<std::uint64_t>& blocks);
// What a block counts as where blocks must not disturb each other in global memory: those of a cluster are one.
std::uint64_t party(const Block& block);

void begin(Cluster& cluster, std::vector<Block*> blocks, bool race_check);

// The block that an address of shared memory in a cluster names, of `own` or of its cluster; none where there is no such block.
Block* block_at(Block& own, std::uint32_t address);
// The same, with a finding where there is none.
Block* named_block(Warp& warp, const Instruction& instruction, int lane, std::uint32_t address);

// An access of the warp to a word of `owner`'s shared memory: reports what is not ordered with it.
void touch(Warp& warp, const Instruction& instruction, int lane, Block& owner, std::uint64_t offset, std::uint64_t bytes, Touch how);

// An arrival at an mbarrier publishes what the block has done; a wait takes it over.
void publish(Warp& warp, const Block& owner, std::uint64_t offset);
void publish(const Block& owner, std::uint64_t offset, const std::vector<std::uint32_t>& clocks);
void complete_phase(const Block& owner, std::uint64_t offset);
// For a copy under way, which publishes it when it arrives; empty for a block that is alone. What the block does later is later.
std::vector<std::uint32_t> clocks_of(const Warp& warp);
void advance_clock(Warp& warp);
void take_over(Warp& warp, const Block& owner, std::uint64_t offset);

// Lets warps go on that wait at the cluster's barrier when everybody has arrived; whether there were any.
bool release(Cluster& cluster);

// A block ends: nobody may use its shared memory any more.
void leave(Block& block);

}  // namespace cudal1::sim
