// SPDX-License-Identifier: Apache-2.0
#include "sim/block.hpp"

#include "sim/cluster.hpp"
#include "sim/interpreter.hpp"
#include "sim/ordering.hpp"
#include "sim/shadow.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

// Of a warp's lanes in one slice, before other warps go on; fewer where it mostly waits for another block.
constexpr int most_rotations = 256, most_rotations_in_turns = 4;

template <class T>
void fill_row(std::byte* rows, std::uint32_t offset, std::uint64_t value) {
  T* at = reinterpret_cast<T*>(rows + offset);
  for (int l = 0; l < 32; ++l) at[l] = static_cast<T>(value);
}
void fill(std::byte* rows, std::uint32_t offset, std::uint32_t width, std::uint64_t value) {
  switch (width) {
    case 1: return fill_row<std::uint8_t>(rows, offset, value);
    case 2: return fill_row<std::uint16_t>(rows, offset, value);
    case 4: return fill_row<std::uint32_t>(rows, offset, value);
    default: return fill_row<std::uint64_t>(rows, offset, value);
  }
}
void put(std::byte* rows, const SpecialRow& row, int lane, std::uint64_t value) {
  value += row.addend;
  std::memcpy(rows + row.offset + static_cast<std::uint32_t>(lane) * row.width, &value, row.width);
}

bool changes_with_block(Special special) {
  switch (special) {
    case Special::ctaid_x: case Special::ctaid_y: case Special::ctaid_z: case Special::smid: case Special::cluster_rank: case Special::in_cluster_x:
    case Special::in_cluster_y: case Special::in_cluster_z: case Special::cluster_x: case Special::cluster_y: case Special::cluster_z: return true;
    default: return false;
  }
}

std::uint64_t special_value(const Launch& launch, const Block& block, std::uint32_t thread, Special special) {
  const std::uint32_t lane = thread % 32;
  switch (special) {
    case Special::tid_x: return thread % launch.block[0];
    case Special::tid_y: return thread / launch.block[0] % launch.block[1];
    case Special::tid_z: return thread / launch.block[0] / launch.block[1];
    case Special::ntid_x: return launch.block[0];
    case Special::ntid_y: return launch.block[1];
    case Special::ntid_z: return launch.block[2];
    case Special::ctaid_x: return block.index[0];
    case Special::ctaid_y: return block.index[1];
    case Special::ctaid_z: return block.index[2];
    case Special::nctaid_x: return launch.grid[0];
    case Special::nctaid_y: return launch.grid[1];
    case Special::nctaid_z: return launch.grid[2];
    case Special::laneid: return lane;
    case Special::warpid: return thread / 32;
    case Special::nwarpid: return (launch.threads_per_block + 31) / 32;
    case Special::smid: return block.number % 132;
    case Special::nsmid: return 132;
    case Special::gridid: return 1;
    case Special::lanemask_eq: return std::uint64_t{1} << lane;
    case Special::lanemask_le: return (std::uint64_t{2} << lane) - 1;
    case Special::lanemask_lt: return (std::uint64_t{1} << lane) - 1;
    case Special::lanemask_ge: return all_lanes & ~((std::uint64_t{1} << lane) - 1);
    case Special::lanemask_gt: return all_lanes & ~((std::uint64_t{2} << lane) - 1);
    case Special::dynamic_shared_bytes: return launch.dynamic_bytes;
    case Special::total_shared_bytes: return launch.shared_bytes;
    case Special::zero: return 0;
    case Special::parameter_block: return launch.parameter_address;
    case Special::workspace_low: return launch.workspace_address & 0xffffffff;
    case Special::workspace_high: return launch.workspace_address >> 32;
    case Special::dynamic_shared_address: return launch.dynamic_offset;
    case Special::cluster_rank: return block.rank;
    case Special::cluster_size: return cluster_size(launch);
    case Special::explicit_cluster: return launch.explicit_cluster;
    case Special::in_cluster_x: return block.index[0] % launch.cluster[0];
    case Special::in_cluster_y: return block.index[1] % launch.cluster[1];
    case Special::in_cluster_z: return block.index[2] % launch.cluster[2];
    case Special::of_cluster_x: return launch.cluster[0];
    case Special::of_cluster_y: return launch.cluster[1];
    case Special::of_cluster_z: return launch.cluster[2];
    case Special::cluster_x: return block.index[0] / launch.cluster[0];
    case Special::cluster_y: return block.index[1] / launch.cluster[1];
    case Special::cluster_z: return block.index[2] / launch.cluster[2];
    case Special::clusters_x: return launch.grid[0] / launch.cluster[0];
    case Special::clusters_y: return launch.grid[1] / launch.cluster[1];
    case Special::clusters_z: return launch.grid[2] / launch.cluster[2];
  }
  return 0;
}

void release(Block& block) {
  // Threads that ended count as arrived at every barrier.
  std::uint32_t live_warps = 0;
  for (const Warp& warp : block.warps) live_warps += warp.state != Warp::State::finished;
  const std::uint32_t ended = static_cast<std::uint32_t>(block.warps.size()) - live_warps;
  for (std::uint32_t id = 0; id < 16; ++id) {
    Block::Barrier& barrier = block.barriers[id];
    if (barrier.arrived == 0 || barrier.arrived + ended * 32 < barrier.expected) continue;
    for (Warp& warp : block.warps) {
      if (warp.state != Warp::State::at_barrier || warp.barrier != id) continue;
      warp.state = Warp::State::ready;
      block.idle_tests = 0;
      if (warp.barrier_reduction == 0 || warp.barrier_result == nowhere) continue;
      if (warp.barrier_reduction == 1) {
        fill_row<std::uint32_t>(warp.rows, warp.barrier_result, barrier.popcount);
      } else {
        const bool result = warp.barrier_reduction == 2 ? barrier.all != 0 : barrier.any != 0;
        auto* p = row<std::uint32_t>(warp, warp.barrier_result);
        *p = (*p & ~warp.mask) | (result ? warp.mask : 0);
      }
    }
    barrier = {};
    ++block.epoch;
    if (Ordering* ordering = block.warps.front().worker->launch->ordering) ordering->barrier(block);
  }
}

}  // namespace

void prepare(Block& block, Worker& worker) {
  const Launch& launch = *worker.launch;
  const Program& program = *launch.program;
  const std::size_t warps = (launch.threads_per_block + 31) / 32, slab = program.slab_bytes + 64;
  block.warps = std::vector<Warp>(warps);
  block.slab_storage.assign(warps * slab + 64, std::byte{0x7f});  // a register that nobody wrote holds no 0: as a float it is large
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(block.slab_storage.data()) + 63) / 64 * 64);
  block.shared_bytes = launch.shared_bytes;
  block.shared_storage.assign(launch.shared_bytes + 192, std::byte{0});
  block.shared = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(block.shared_storage.data()) + 63) / 64 * 64);
  block.shared_written.assign(launch.shared_bytes / 4 + 64, WordFlags{0});
  const std::size_t local = program.local_bytes * 32;
  block.local_storage.assign(local * warps + 64, std::byte{0});
  block.local_written.assign((local / 4 + 8) * warps + 64, WordFlags{0});
  block.race_check = launch.race_check && launch.shared_bytes > 0;
  if (block.race_check) {
    const std::size_t granules = launch.shared_bytes / program.shared_granule + 64;
    block.races.writer.assign(granules, 0), block.races.reader.assign(granules, 0);
    block.races.writer_at.assign(granules, 0), block.races.reader_at.assign(granules, 0);
  }
  for (std::size_t i = 0; i < warps; ++i) {
    Warp& warp = block.warps[i];
    warp.block = &block;
    warp.worker = &worker;
    warp.index = static_cast<std::uint32_t>(i);
    warp.rows = aligned + i * slab / 64 * 64;
    warp.local = block.local_storage.data() + i * local;
    warp.local_written = block.local_written.data() + i * (local / 4 + 8);
    warp.stack.reserve(16);
    for (const ConstantRow& constant : program.constants) fill(warp.rows, constant.offset, constant.width, constant.value);
    for (const ParameterRow& parameter : program.parameters) {
      std::uint64_t value = 0;
      std::memcpy(&value, launch.parameters.data() + parameter.parameter_offset, parameter.bytes);
      const unsigned shift = 64 - 8 * parameter.bytes;
      if (parameter.extend_sign) value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
      fill(warp.rows, parameter.offset, parameter.width, value);
    }
    for (const SpecialRow& special : program.specials)
      for (int lane = 0; lane < 32; ++lane)
        put(warp.rows, special, lane, special_value(launch, block, static_cast<std::uint32_t>(i) * 32 + static_cast<std::uint32_t>(lane), special.special));
    if (program.shadow) prepare_shadows(warp);
  }
}

void begin(Block& block, Worker& worker, std::uint64_t number) {
  const Launch& launch = *worker.launch;
  const Program& program = *launch.program;
  block.number = number;
  block.index = {static_cast<std::uint32_t>(number % launch.grid[0]), static_cast<std::uint32_t>(number / launch.grid[0] % launch.grid[1]),
                 static_cast<std::uint32_t>(number / launch.grid[0] / launch.grid[1])};
  block.executed = 0;
  block.idle_tests = 0;
  block.asynchrony.reset();
  block.barriers = {};
  std::fill(block.shared_written.begin(), block.shared_written.end(), WordFlags{0});
  if (program.local_bytes) std::fill(block.local_written.begin(), block.local_written.end(), WordFlags{0});
  block.race_check = launch.race_check && launch.shared_bytes > 0;
  // Old tags mean nothing in a new epoch; only when the numbers run out are they cleared.
  block.epoch += 1;
  if (block.epoch >= 0xf000) {
    block.epoch = 1;
    for (auto* tags : {&block.races.writer, &block.races.reader}) std::fill(tags->begin(), tags->end(), 0);
  }
  block.recording = nullptr;
  if (launch.recordings) {
    if (const auto found = launch.recordings->find(number); found != launch.recordings->end()) {
      block.recording = &found->second;
      block.recording->warps.resize(block.warps.size());
    }
  }
  for (Warp& warp : block.warps) {
    // The first warp and one from the middle are traced.
    const bool traced = block.recording && (warp.index == 0 || warp.index == block.warps.size() / 2);
    if (traced) block.recording->warps[warp.index].traced = true;
    warp.trace = traced ? &block.recording->warps[warp.index].segments : nullptr;
    const std::uint32_t first = warp.index * 32, left = launch.threads_per_block - first;
    warp.live = left >= 32 ? all_lanes : (1u << left) - 1;
    warp.state = Warp::State::ready;
    warp.stack.assign(1, Frame{0, warp.live, nowhere, false, 0});
    warp.saved.clear();
    warp.saved_bytes = 0;
    if (program.frame_row != nowhere) fill(warp.rows, program.frame_row, 8, 0);
    warp.executed = 0;
    warp.copies.clear();
    warp.open_copies.pieces.clear();
    warp.paths = 0;
    warp.path = 0;
    warp.path_floor = 1;
    warp.rotated = false;
    warp.turns = 0;
    warp.impatient = false;
    warp.slept_ns = 0;
    warp.watched = false;
    warp.cluster_arrived = warp.cluster_passed = 0;
    set_mask(warp, warp.live);
    for (const SpecialRow& special : program.specials) {
      if (!changes_with_block(special.special)) continue;
      fill(warp.rows, special.offset, special.width, special_value(launch, block, first, special.special) + special.addend);
    }
  }
}

Progress advance(Block& block, std::int64_t slice) {
  bool left_over = false;
  const Launch& launch = *block.warps.front().worker->launch;
  const int allowed = launch.program->waits_for_blocks && !launch.counts_spins ? most_rotations_in_turns : most_rotations;
  for (;;) {
    bool ran = false, ready = false, all_finished = true;
    for (Warp& warp : block.warps) {
      if (warp.state == Warp::State::ready) {
        Stop stop = Stop::yielded;
        int rotations = 0;
        for (std::int64_t left = slice; left > 0;) {
          const std::uint64_t before = warp.executed;
          stop = run_warp(warp, left);
          const std::uint64_t spent = warp.executed - before;
          block.executed += spent;
          left -= static_cast<std::int64_t>(spent) + 1;
          // Lanes of a warp make progress independently: one that holds what the others wait for goes on.
          if (stop != Stop::yielded || !std::exchange(warp.impatient, false) || ++rotations > allowed || !rotate_frames(warp)) break;
        }
        ran = true;
        if (stop == Stop::yielded) {
          left_over = ready = true;
          // What a lane spins on mostly comes from another warp or block; only in the long run from its own warp.
          const bool long_run = slice > 100'000 || warp.executed / static_cast<std::uint64_t>(slice) % 16 == 15;
          if (launch.program->may_spin && long_run) rotate_frames(warp);
        }
      }
      all_finished &= warp.state == Warp::State::finished;
    }
    if (launch.aborted.load(std::memory_order_relaxed)) return Progress::finished;
    if (all_finished) return Progress::finished;
    release(block);
    for (const Warp& warp : block.warps) ready |= warp.state == Warp::State::ready;
    if (!ready) return Progress::stuck;
    if (left_over) return Progress::waiting;
    if (!ran) return Progress::stuck;
  }
}

}  // namespace cudal1::sim
