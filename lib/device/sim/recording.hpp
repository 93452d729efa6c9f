// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace cudal1::sim {

struct Warp;
struct Instruction;

// What one block asked of global and local memory, and the way two of its warps took: the model of time replays it.
struct Recording {
  struct Access {
    std::uint32_t site = 0;
    std::uint32_t first = 0, count = 0;     // a stretch of `places`
  };
  struct Log {
    std::vector<Access> accesses;
    std::vector<std::uint32_t> segments;    // in the order run; only where `traced`
    bool traced = false;
  };
  std::vector<Log> warps;
  double longest_warp = 0;                    // instructions and nanoseconds of sleep (Worker::Longest)
  double slept_ns = 0;                        // of the warp that slept longest
  // Distinct 32-byte sectors (address / 32) of each access, ascending; of an atomic its lanes' 4-byte words (address / 4).
  std::vector<std::uint64_t> places;

  static constexpr std::size_t most_places = 3'000'000, most_segments = 200'000;  // what comes later is left out
};
using Recordings = std::map<std::uint64_t, Recording>;  // by block number

// Notes an access of the warp's active lanes; shared memory is left out. Local memory has addresses of its own, laid out as
// the hardware does: word k of all lanes side by side.
void record(Warp& warp, const Instruction& instruction, const std::uint64_t* addresses, unsigned bytes);
void record_local(Warp& warp, const Instruction& instruction, const std::uint64_t* addresses, unsigned bytes);
void record_atomic(Warp& warp, const Instruction& instruction, const std::uint64_t* addresses);
// The same for `count` stretches that are not lanes'.
void record_lines(Warp& warp, const Instruction& instruction, std::uint64_t address, std::uint64_t step, unsigned count, unsigned bytes);

// Where word `address / 4` of a lane's local memory lies, as the hardware interleaves lanes.
inline std::uint64_t local_place(std::uint64_t address, unsigned lane) { return (address / 4 * 32 + lane) * 4 + address % 4; }

}  // namespace cudal1::sim
