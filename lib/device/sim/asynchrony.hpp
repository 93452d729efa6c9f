// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace cudal1::sim {

// Flags of a word of shared memory beside those in memory.hpp. Every ordinary store clears both.
inline constexpr WordFlags word_proxied = 0x20;  // visible to asynchronous operations: fence.proxy.async, or written by one
inline constexpr WordFlags word_pinned = 0x40;   // an asynchronous operation under way reads it

// What a block's asynchronous operations have under way. Their values are moved when they are issued; that nobody may count on
// it yet, or disturb it, is what this remembers.
struct Asynchrony {
  static constexpr std::uint32_t chunk_bytes = 16;

  // A bulk copy to shared memory: its words are in flight until somebody asks the barrier that counts its bytes.
  struct Arrival {
    std::uint32_t offset = 0, bytes = 0, barrier = 0, warp = 0, statement = 0;
    std::uint32_t rank = 0;   // of the block that issued it, in the cluster
    std::vector<std::uint32_t> clocks;   // and what that block had done
  };
  std::vector<Arrival> arrivals;
  std::vector<std::uint16_t> pins;       // by chunk: operations under way that read it
  std::vector<std::uint8_t> layouts;     // by chunk: 1 + swizzle mode that a tensor copy wrote it with; 0: something else wrote it

  // Operations that a warp has issued and may still wait for, in groups.
  struct Group {
    std::vector<std::uint32_t> chunks;   // of shared memory that they read
    std::uint32_t statement = 0;
  };
  struct WarpState {
    Group open;
    std::deque<Group> groups;
    std::uint32_t committed = 0, done = 0;       // wgmma groups so far
    std::uint32_t fences = 0;                    // wgmma.fence so far
    std::uint64_t products = 0;                  // wgmma.mma_async so far
    // By register: the wgmma group that used it last as an accumulator or as A; the fence count when something else wrote it.
    std::vector<std::uint32_t> accumulator, operand, written_after;
    std::vector<Group> bulk_open;                // one lane's bulk stores
    std::deque<std::vector<Group>> bulk_groups;
  };
  std::vector<WarpState> warps;

  // Words of other blocks' shared memory, by rank and word, that this block's warps wrote since a fence: epoch << 16 | warp.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> far;
};

Asynchrony& asynchrony(Block& block);  // made at first use

// A barrier's copies arrive: their words may be read, their bytes count.
void deliver_arrivals(Block& block, std::uint32_t barrier, void (*count)(Block&, std::uint32_t barrier, std::uint32_t bytes));

// Notes that an operation of the group reads [offset, offset + 16) until release() of the group, which reports what was overwritten.
void pin(Block& block, Asynchrony::Group& group, std::uint32_t chunk);
void release(Warp& warp, const Asynchrony::Group& group, const char* reader);

// Whether an asynchronous operation may read or write these 16 bytes; reports what is wrong.
bool readable(Warp& warp, const Instruction& instruction, int lane, std::uint64_t offset, const char* reader);
bool writable(Warp& warp, const Instruction& instruction, int lane, Block& block, std::uint64_t offset, unsigned bytes);

// fence.proxy.async: what this warp wrote, and what others wrote before the last barrier, becomes visible, in other blocks too.
void fence_proxy(Warp& warp);

// What is left when a block ends.
void finish(Block& block);

// Before a statement of a warp that has issued wgmma: accumulators under way may not be touched.
void watch(Warp& warp, const Instruction& instruction);

}  // namespace cudal1::sim
