// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machine.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cudal1::sim {

// What orders the accesses of a launch's blocks among each other, where its kernel has fences, ordered accesses or
// grid barriers: happens-before with vector clocks, as in FastTrack (Flanagan and Freund, PLDI 2009), a warp being a
// thread there. A fence lets the warp's later ordered stores and atomic operations publish what it has done and what it
// knows was done; an ordered load or an atomic operation of the same address takes that over. A barrier shares it
// among the warps of a block. A fence behind a load is not asked for: hardware waits for what a branch depends on.
// Such a kernel runs on one thread, and so does this.
class Ordering {
 public:
  // `warps_apart`: false where the warps of a block may order each other through shared memory; they then count as one.
  explicit Ordering(bool warps_apart) : warps_apart_(warps_apart) {}

  void fence(const Warp& warp);
  void publish(const Warp& warp, std::uint64_t address, bool update);  // update: atomic, on top of what others published
  void observe(const Warp& warp, std::uint64_t address);
  void barrier(const Block& block);

  // An earlier access by another block that is not ordered before this one.
  struct Conflict {
    std::uint64_t block;
    bool store;
  };
  std::optional<Conflict> access(const Warp& warp, std::uint64_t index, bool store);  // index: of a 4-byte word

 private:
  using Time = std::uint32_t;
  using Clocks = std::unordered_map<std::uint64_t, Time>;  // by warp of the launch: what is known of it up to when
  using Published = std::shared_ptr<Clocks>;               // at one address; grows while others still read it
  struct Tag {
    std::uint64_t warp = 0;
    Time time = 0;                   // 0: nobody
  };
  struct Word {
    Tag writer;
    std::vector<Tag> readers;        // since it was written
  };
  struct Knowledge {
    Clocks clocks;
    std::vector<Published> observed;  // not looked into yet
    Clocks fenced;                    // what its next ordered store publishes
  };
  struct BlockState {
    std::vector<Time> times, met;    // of its warps: now; at the last barrier
    Knowledge common;                // every warp's since the last barrier
    std::vector<Knowledge> own;      // a warp's beyond that
  };

  std::size_t place(const Warp& warp) const { return warps_apart_ ? warp.index : 0; }
  BlockState& state(const Block& block);
  std::uint64_t name(const Block& block, std::size_t place) const;
  bool before(const Tag& tag, const Warp& warp);
  void look_into(Knowledge& knowledge);

  bool warps_apart_;
  std::unordered_map<std::uint64_t, BlockState> blocks_;
  std::unordered_map<std::uint64_t, Published> published_;  // by address
  std::unordered_map<std::uint64_t, Word> words_;
};

}  // namespace cudal1::sim
