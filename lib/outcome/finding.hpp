// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cudal1::outcome {

// A fault that the simulator or compute-sanitizer saw while a kernel ran.
struct Finding {
  enum class Kind {
    out_of_bounds, misaligned, uninitialised, shared_race, global_race, divergent_barrier, bad_warp_mask,
    division_by_zero, trap, in_flight_read, stack_overflow, other
  };
  Kind kind = Kind::other;
  std::string kernel;
  std::string file;
  int line = 0;                                 // of the kernel file; 0 unknown
  std::array<std::uint32_t, 3> block{}, thread{};
  std::uint64_t address = 0;
  std::string buffer;                           // "C", "shared memory"; empty unknown
  std::int64_t offset = 0;                      // bytes from the buffer's start
  std::string message;                          // one sentence that a person or a model can act on
  int other_line = 0;                           // a race's other side
  std::array<std::uint32_t, 3> other_block{}, other_thread{};
};
std::string kind_name(Finding::Kind kind);      // "out_of_bounds"
std::string render(const Finding& finding);     // several lines, ends with a newline

}  // namespace cudal1::outcome
