// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

namespace cudal1::sim {

// The thorough ways of a warp's memory access, taken when the fast ones in transfer.ipp find anything out of the ordinary.

// One element's place on the host, or null with a finding. `flags` is null where everything counts as written.
struct Place {
  std::byte* host = nullptr;
  WordFlags* flags = nullptr;   // of the space's first word
  std::size_t offset = 0;       // bytes from there
  Allocation* allocation = nullptr;
  Space space = Space::global;
  Block* owner = nullptr;       // of shared memory: whose it is
};
Place resolve(Warp& warp, const Instruction& instruction, Space space, int lane, std::uint64_t address, unsigned bytes);

// Loads or stores lane by lane with every check.
void access_by_lane(Warp& warp, const Instruction& instruction, Space space, unsigned width, unsigned count, bool store);

// Distinct 32-byte sectors that the active lanes touch.
unsigned count_sectors(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes);
// How often shared memory is read or written for one warp access: bank conflicts repeat it.
unsigned count_wavefronts(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes);

// Looks for races of an access to shared memory; offsets are within the block's shared memory and in bounds.
void shared_race(Warp& warp, const Instruction& instruction, const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, bool store);
// The same for an access whose lane l is at base + stride · l in each half of the warp.
void shared_race_runs(Warp& warp, const Instruction& instruction, std::uint64_t base0, std::uint64_t base1,
                      std::uint64_t stride0, std::uint64_t stride1, unsigned bytes, bool store);
void global_race(Warp& warp, const Instruction& instruction, Allocation& allocation, const std::uint64_t* addresses,
                 std::uint32_t mask, unsigned bytes, bool store);

}  // namespace cudal1::sim
