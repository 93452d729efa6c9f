// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/memory.hpp"
#include "sim/program.hpp"
#include "sim/recording.hpp"
#include "outcome/counters.hpp"
#include "outcome/finding.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::sim {

// The state of a launch while it runs. These are plain structures that the handlers of all instruction families touch.

struct Block;
struct Worker;
struct Launch;
class Ordering;
struct Asynchrony;
struct Cluster;
struct ClusterTags;

inline constexpr std::uint32_t all_lanes = ~std::uint32_t{0};

enum class ShadowMode : std::uint8_t;  // sim.hpp

// Where generic addresses of shared and local memory begin; no allocation lies there.
inline constexpr std::uint64_t shared_window = std::uint64_t{0x71} << 40;
inline constexpr std::uint64_t local_window = std::uint64_t{0x72} << 40;
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t code_window = std::uint64_t{0x73} << 40;  // addresses of functions

struct Frame {
  std::uint32_t pc = 0, mask = 0, join = nowhere;
  bool call = false;        // the lowest frame of a called function
  std::uint16_t path = 0;   // 0: all the warp's lanes together; else which divergent side this is
};

// What a call put aside of its caller (SavedRows), and how many frames the warp had then.
struct SavedFrame {
  std::size_t depth = 0;
  std::vector<std::byte> rows, locals;
};

// A group of asynchronous copies that a warp has started.
struct CopyGroup {
  struct Piece {
    std::uint32_t offset, bytes;
  };
  std::vector<Piece> pieces;
};

struct alignas(64) Warp {
  std::array<std::uint32_t, 32> lanes{};  // mask expanded: 0 or ~0
  std::byte* rows = nullptr;              // the register slab
  std::uint32_t mask = 0;                 // lanes that run now
  std::uint32_t live = 0;                 // lanes that have not ended
  std::uint32_t saved_mask = 0;           // while a guarded instruction runs
  std::uint32_t index = 0;                // in its block
  std::uint32_t path = 0;                 // of the running frame
  Block* block = nullptr;
  Worker* worker = nullptr;
  std::vector<Frame> stack;
  std::vector<SavedFrame> saved;
  std::size_t saved_bytes = 0;
  std::byte* local = nullptr;             // lane after lane
  WordFlags* local_written = nullptr;
  std::vector<CopyGroup> copies;          // committed groups, oldest first
  CopyGroup open_copies;
  std::uint64_t executed = 0;             // warp instructions
  std::uint32_t paths = 0;                // divergent sides numbered so far
  std::uint32_t path_floor = 1;           // sides numbered below have met again
  bool rotated = false;                   // its frames were rotated to let waiting lanes go on
  std::uint32_t turns = 0;                // of loops that ask for what others may write
  bool impatient = false;                 // it yielded because it may spin on what its own lanes have to do
  double slept_ns = 0;
  bool watched = false;                   // it has issued wgmma: what touches its registers is looked at

  std::uint32_t cluster_arrived = 0;      // lanes that have arrived at the cluster's barrier, and those that may pass it
  std::uint32_t cluster_passed = 0;

  enum class State : std::uint8_t { ready, at_barrier, at_cluster, finished };
  State state = State::ready;
  std::vector<std::uint32_t>* trace = nullptr;  // takes the segments it runs
  std::uint32_t barrier = 0;              // at_barrier: which
  std::uint32_t barrier_result = nowhere; // slab offset that takes a reduction
  std::uint8_t barrier_reduction = 0;     // 0 none, 1 popc, 2 and, 3 or
};

// What one static memory access has done; one per worker, so nothing is shared between threads.
struct Site {
  Allocation* last = nullptr;
  std::uint64_t requests = 0, sectors = 0, lane_accesses = 0, wavefronts = 0, serial_steps = 0, ideal = 0;
};

struct SegmentCount {
  std::uint64_t warps = 0, lanes = 0, divergent = 0;
};

// The last write to and read of one granule of shared memory. `key` is epoch (high 16 bits), path (10 bits) and warp (6 bits);
// a key of an older epoch means nothing.
struct RaceTags {
  std::vector<std::uint32_t> writer, reader;        // keys
  std::vector<std::uint32_t> writer_at, reader_at;  // statement << 5 | lane
};

struct Block {
  std::array<std::uint32_t, 3> index{};
  std::uint64_t number = 0;
  std::vector<Warp> warps;
  std::vector<std::byte> slab_storage;
  std::byte* shared = nullptr;
  std::size_t shared_bytes = 0;
  std::vector<std::byte> shared_storage, local_storage;
  std::vector<WordFlags> shared_written, local_written;
  std::shared_ptr<ShadowCells> shared_shadow, local_shadow;  // in a launch with shadows
  RaceTags races;
  bool race_check = false;
  std::uint32_t epoch = 1;
  struct Barrier {
    std::uint32_t arrived = 0, expected = 0;  // threads
    std::uint32_t popcount = 0, all = 0, any = 0, voters = 0;
  };
  std::array<Barrier, 16> barriers{};
  std::uint64_t executed = 0;             // of all warps; a wgmma counts for more, as the launch's budget is of time
  std::uint32_t idle_tests = 0;             // of mbarriers, in a row, that found nothing new
  std::shared_ptr<Asynchrony> asynchrony;   // none until an asynchronous operation is issued
  Cluster* cluster = nullptr;               // none: the block is alone
  std::uint32_t rank = 0;                   // in its cluster
  std::shared_ptr<ClusterTags> cluster_tags;
  Recording* recording = nullptr;
};

// Everything one host thread needs to run blocks.
struct Worker {
  Launch* launch = nullptr;
  std::vector<Site> sites;
  std::vector<SegmentCount> segments;
  std::vector<outcome::Finding> findings;
  std::map<std::pair<int, std::uint32_t>, int> reported;  // (kind, statement) → how often
  std::uint64_t barriers = 0;
  std::uint64_t turned = 0;   // comparisons that shadows would have decided otherwise
  // The block whose longest warp took longest, in instructions; nanoseconds of sleep count as instructions.
  struct Longest {
    std::uint64_t block = 0;
    double warp = 0, all = 0;             // of that warp, of all its warps
  };
  Longest longest;
  std::map<std::uint64_t, std::string> printed;  // by block
  std::size_t printed_bytes = 0;
};

struct Launch {
  const Program* program = nullptr;
  GlobalMemory* memory = nullptr;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  bool explicit_cluster = false;      // the launch or the kernel asks for one, be it of one block
  std::uint32_t threads_per_block = 1;
  std::size_t shared_bytes = 0;       // static and dynamic
  std::size_t dynamic_offset = 0, dynamic_bytes = 0;
  std::vector<std::byte> parameters;
  std::uint64_t parameter_address = 0;
  std::uint64_t workspace_address = 0;  // of a cooperative launch: what its grid barrier counts in; 0: none
  std::string file;                   // the kernel file, for findings
  bool race_check = false, global_races = false, report_unwritten = true;
  Ordering* ordering = nullptr;       // with global_races, of a kernel that orders its blocks itself
  std::uint64_t budget = 0;
  ShadowMode shadow_mode{};   // of a program with shadows
  std::uint64_t shadow_seed = 0;
  Recordings* recordings = nullptr;   // blocks with an entry here are recorded
  bool counts_spins = false;          // spinning is part of what is counted: waiting blocks get whole slices
  std::atomic<std::uint64_t> executed{0};
  std::atomic<bool> aborted{false};
  std::atomic<bool> timed_out{false};
  std::atomic<int> finding_count{0};
};

// Reports a fault that lane `lane` of the warp met; kept once per kind and instruction, counted beyond that.
void report(Warp& warp, const Instruction& instruction, outcome::Finding::Kind kind, int lane, std::uint64_t address,
            const std::string& message);
void report_at(Warp& warp, std::uint32_t statement, outcome::Finding::Kind kind, int lane, std::uint64_t address,
               const std::string& message);

void set_mask(Warp& warp, std::uint32_t mask);  // also expands it

template <class T>
T* row(const Warp& warp, std::uint32_t offset) {
  return reinterpret_cast<T*>(warp.rows + offset);
}

}  // namespace cudal1::sim
