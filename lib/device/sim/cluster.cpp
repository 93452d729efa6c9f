// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster.hpp"

#include "sim/asynchrony.hpp"
#include "sim/families.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = outcome::Finding::Kind;

constexpr unsigned clock_bits = 27;
u32 cluster_tag(u32 rank, Cluster::Clock clock) { return rank << clock_bits | (clock & ((1u << clock_bits) - 1)); }
u32 named_rank(u32 tag) { return tag >> clock_bits; }
Cluster::Clock named_clock(u32 tag) { return tag & ((1u << clock_bits) - 1); }

void join_clocks(Cluster::Clocks& into, const Cluster::Clocks& from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (std::size_t rank = 0; rank < from.size(); ++rank) into[rank] = std::max(into[rank], from[rank]);
}

std::array<u32, 3> clusters_along(const Launch& launch) {
  return {launch.grid[0] / launch.cluster[0], launch.grid[1] / launch.cluster[1], launch.grid[2] / launch.cluster[2]};
}

void report_unordered(Warp& w, const Instruction& i, int lane, const Block& owner, u64 offset, const char* what, u32 other_rank, u32 statement) {
  const Program& program = *w.worker->launch->program;
  const int line = statement < program.statements.size() ? program.statements[statement].source_line : 0;
  const std::size_t before = w.worker->findings.size();
  report(w, i, Kind::shared_race, lane, offset,
         fmt::format("{} the cluster's block {}{}, and neither a barrier of the cluster nor an mbarrier orders them", what, other_rank,
                     line > 0 ? fmt::format(" at line {}", line) : ""));
  if (w.worker->findings.size() == before) return;
  outcome::Finding& finding = w.worker->findings.back();
  finding.buffer = "shared memory";
  finding.offset = static_cast<std::int64_t>(offset);
  finding.other_line = line;
  finding.other_block = owner.cluster->blocks[other_rank]->index;
}

// What a block does with a word of its own that others of the cluster use too.
void touch_own(Warp& w, const Instruction& i, int lane, u64 offset, u64 word, Touch how) {
  Block& block = *w.block;
  ClusterTags& tags = *block.cluster_tags;
  const Cluster::Clocks& known = block.cluster->known[block.rank];
  const u32 writer = tags.far_written[word], reader = tags.far_read[word];
  if (writer != 0 && named_clock(writer) > known[named_rank(writer)])
    report_unordered(w, i, lane, block, offset, how == Touch::load ? "reads what is written by" : "writes what is written by", named_rank(writer), tags.far_at[word]);
  else if (how != Touch::load && reader != 0 && named_clock(reader) > known[named_rank(reader)])
    report_unordered(w, i, lane, block, offset, "writes what is read by", named_rank(reader), tags.far_at[word]);
  if (how == Touch::load) tags.read[word] = known[block.rank];
  else tags.written[word] = known[block.rank], tags.written_at[word] = i.statement;
}

void touch_far(Warp& w, const Instruction& i, int lane, Block& owner, u64 offset, u64 word, Touch how) {
  const Cluster& cluster = *owner.cluster;
  ClusterTags& tags = *owner.cluster_tags;
  const u32 me = w.block->rank;
  const Cluster::Clocks& known = cluster.known[me];
  const u32 writer = tags.far_written[word];
  const char* verb = how == Touch::load ? "reads" : "writes";
  if (tags.written[word] > known[owner.rank])
    report_unordered(w, i, lane, owner, offset, how == Touch::load ? "reads what is written by" : "writes what is written by", owner.rank, tags.written_at[word]);
  else if (how != Touch::load && tags.read[word] > known[owner.rank])
    report_unordered(w, i, lane, owner, offset, "writes what is read by", owner.rank, nowhere);
  else if (how != Touch::update && writer != 0 && named_rank(writer) != me && named_clock(writer) > known[named_rank(writer)])
    report_unordered(w, i, lane, owner, offset, fmt::format("{} what is written by", verb).c_str(), named_rank(writer), tags.far_at[word]);
  if (how == Touch::load) tags.far_read[word] = cluster_tag(me, known[me]);
  else tags.far_written[word] = cluster_tag(me, known[me]), asynchrony(*w.block).far[{owner.rank, word}] = w.block->epoch << 16 | w.index;
  tags.far_at[word] = i.statement;
}

}  // namespace

u32 cluster_size(const Launch& launch) { return launch.cluster[0] * launch.cluster[1] * launch.cluster[2]; }

std::vector<u64> cluster_members(const Launch& launch, u64 cluster) {
  const auto along = clusters_along(launch);
  const u64 x = cluster % along[0], y = cluster / along[0] % along[1], z = cluster / along[0] / along[1];
  std::vector<u64> members;
  for (u64 k = 0; k < launch.cluster[2]; ++k)
    for (u64 j = 0; j < launch.cluster[1]; ++j)
      for (u64 i = 0; i < launch.cluster[0]; ++i)
        members.push_back(((z * launch.cluster[2] + k) * launch.grid[1] + y * launch.cluster[1] + j) * launch.grid[0] + x * launch.cluster[0] + i);
  return members;
}

u64 cluster_of(const Launch& launch, u64 block) {
  const auto along = clusters_along(launch);
  const u64 x = block % launch.grid[0] / launch.cluster[0], y = block / launch.grid[0] % launch.grid[1] / launch.cluster[1],
            z = block / launch.grid[0] / launch.grid[1] / launch.cluster[2];
  return (z * along[1] + y) * along[0] + x;
}

std::vector<u64> whole_clusters(const Launch& launch, const std::vector<u64>& blocks) {
  if (cluster_size(launch) == 1) return blocks;
  std::set<u64> clusters;
  for (const u64 block : blocks) clusters.insert(cluster_of(launch, block));
  std::vector<u64> all;
  for (const u64 cluster : clusters)
    for (const u64 member : cluster_members(launch, cluster)) all.push_back(member);
  return all;
}

u64 party(const Block& block) { return block.cluster ? block.cluster->blocks.front()->number : block.number; }

void begin(Cluster& cluster, std::vector<Block*> blocks, bool race_check) {
  const std::size_t count = blocks.size();
  cluster = {};
  cluster.blocks = std::move(blocks);
  cluster.ended.assign(count, false);
  cluster.known.assign(count, Cluster::Clocks(count, 0));
  cluster.arrived.assign(count, 0);
  cluster.released.assign(count, 0);
  for (u32 rank = 0; rank < count; ++rank) {
    Block& block = *cluster.blocks[rank];
    block.cluster = &cluster;
    block.rank = rank;
    cluster.known[rank][rank] = 1;
    cluster.met.push_back(1u << rank);
    if (!block.cluster_tags) block.cluster_tags = std::make_shared<ClusterTags>();
    ClusterTags& tags = *block.cluster_tags;
    tags.last.assign(count, {});
    const std::size_t words = race_check && count > 1 ? block.shared_bytes / 4 + 2 : 0;
    for (auto* each : {&tags.written, &tags.written_at, &tags.read, &tags.far_written, &tags.far_read, &tags.far_at}) each->assign(words, 0);
  }
}

Block* block_at(Block& own, u32 address) {
  const u32 name = address >> cluster_rank_shift, size = own.cluster ? static_cast<u32>(own.cluster->blocks.size()) : 1;
  if (name > size) return nullptr;
  return name == 0 || !own.cluster ? &own : own.cluster->blocks[name - 1];
}

Block* named_block(Warp& w, const Instruction& i, int lane, u32 address) {
  if (Block* named = block_at(*w.block, address)) return named;
  const std::size_t size = w.block->cluster ? w.block->cluster->blocks.size() : 1;
  report(w, i, Kind::out_of_bounds, lane, address, fmt::format("names a block of its cluster that is not there: rank {} of {}", (address >> cluster_rank_shift) - 1, size));
  return nullptr;
}

void touch(Warp& w, const Instruction& i, int lane, Block& owner, u64 offset, u64 bytes, Touch how) {
  if (!owner.cluster) return;
  Cluster& cluster = *owner.cluster;
  const u32 me = w.block->rank;
  const bool looks = !owner.cluster_tags->written.empty() && bytes > 0;
  if (&owner != w.block) {
    if (!(cluster.met[me] >> owner.rank & 1) && cluster.known[me][owner.rank] == 0)
      return report(w, i, Kind::shared_race, lane, offset,
                    fmt::format("uses the shared memory of the cluster's block {}, which may not have begun; run a barrier of the cluster first", owner.rank));
    if (cluster.ended[owner.rank])
      return report(w, i, Kind::shared_race, lane, offset,
                    fmt::format("uses the shared memory of the cluster's block {}, which has ended; let every block run a barrier of the cluster before it ends", owner.rank));
    owner.cluster_tags->last[me] = {cluster.known[me][me], i.statement, w.index};
  }
  if (!looks) return;
  for (u64 word = offset / 4; word <= (offset + bytes - 1) / 4; ++word)
    &owner == w.block ? touch_own(w, i, lane, offset, word, how) : touch_far(w, i, lane, owner, offset, word, how);
}

void publish(Warp& w, const Block& owner, u64 offset) {
  if (!owner.cluster) return;
  Cluster& cluster = *owner.cluster;
  Cluster::Clocks& mine = cluster.known[w.block->rank];
  join_clocks(cluster.arriving[{owner.rank, offset}], mine);
  ++mine[w.block->rank];
}

void publish(const Block& owner, u64 offset, const std::vector<u32>& clocks) {
  if (owner.cluster && !clocks.empty()) join_clocks(owner.cluster->arriving[{owner.rank, offset}], clocks);
}

void complete_phase(const Block& owner, u64 offset) {
  if (!owner.cluster) return;
  const auto found = owner.cluster->arriving.find({owner.rank, offset});
  if (found != owner.cluster->arriving.end()) join_clocks(owner.cluster->completed[{owner.rank, offset}], found->second);
}

std::vector<u32> clocks_of(const Warp& w) { return w.block->cluster ? w.block->cluster->known[w.block->rank] : std::vector<u32>{}; }

void advance_clock(Warp& w) {
  if (w.block->cluster) ++w.block->cluster->known[w.block->rank][w.block->rank];
}

void take_over(Warp& w, const Block& owner, u64 offset) {
  if (!owner.cluster) return;
  const auto found = owner.cluster->completed.find({owner.rank, offset});
  if (found != owner.cluster->completed.end()) join_clocks(owner.cluster->known[w.block->rank], found->second);
}

bool release(Cluster& cluster) {
  bool any = false;
  for (const Block* block : cluster.blocks)
    for (const Warp& warp : block->warps) {
      if (warp.state == Warp::State::finished) continue;
      if (warp.live & ~warp.cluster_arrived) return false;
      any |= warp.live != 0;
    }
  if (!any) return false;
  cluster.released = cluster.arrived;
  for (Block* block : cluster.blocks) {
    ++block->epoch;
    block->idle_tests = 0;
    for (Warp& warp : block->warps) {
      warp.cluster_passed |= warp.cluster_arrived;
      warp.cluster_arrived = 0;
    }
  }
  for (Block* block : cluster.blocks)
    for (Warp& warp : block->warps) {
      if (warp.state != Warp::State::at_cluster) continue;
      warp.state = Warp::State::ready;
      warp.cluster_passed &= ~warp.mask;
      join_clocks(cluster.known[block->rank], cluster.released);
      cluster.met[block->rank] = all_lanes;
    }
  return true;
}

void leave(Block& block) {
  if (!block.cluster) return;
  Cluster& cluster = *block.cluster;
  cluster.ended[block.rank] = true;
  for (u32 rank = 0; rank < cluster.blocks.size(); ++rank) {
    const ClusterTags::Last& last = block.cluster_tags->last[rank];
    if (rank == block.rank || last.clock <= cluster.known[block.rank][rank]) continue;
    report_at(cluster.blocks[rank]->warps[last.warp], last.statement, Kind::shared_race, 0, 0,
              fmt::format("uses the shared memory of the cluster's block {}, which may have ended; let every block run a barrier of the cluster before it ends", block.rank));
  }
}

namespace {

void note_arrival(Warp& w, const Instruction& i) {
  const u32 again = w.mask & (w.cluster_arrived | w.cluster_passed);
  if (again)
    report(w, i, Kind::divergent_barrier, std::countr_zero(again), 0, "arrives at the cluster's barrier again before it has waited there");
  if (i.extra && w.mask != w.live)
    report(w, i, Kind::divergent_barrier, std::countr_zero(w.live & ~w.mask), 0,
           fmt::format("an aligned barrier of the cluster is reached by {} of the warp's {} running threads", std::popcount(w.mask), std::popcount(w.live)));
  w.cluster_arrived |= w.mask;
}

// extra: aligned; immediate: relaxed, which publishes nothing. A block that is alone has a cluster too where its kernel arrives here.
void arrive_at_cluster(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  note_arrival(w, i);
  w.worker->barriers += 1;
  Cluster& cluster = *w.block->cluster;
  const u32 me = w.block->rank;
  if (i.immediate == 0) join_clocks(cluster.arrived, cluster.known[me]), ++cluster.known[me][me];
  for (Block* block : cluster.blocks) block->idle_tests = 0;
  release(cluster);
}

// The warp stops where not all of its lanes may go on: its state says so.
void wait_at_cluster(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  const u32 absent = w.mask & ~(w.cluster_arrived | w.cluster_passed);
  if (absent) {
    report(w, i, Kind::divergent_barrier, std::countr_zero(absent), 0, "waits at the cluster's barrier without having arrived there; barrier.cluster.arrive comes first");
    w.worker->launch->aborted = true;
    return;
  }
  if (w.mask & w.cluster_arrived) {
    if (w.mask == w.live) w.state = Warp::State::at_cluster;
    else w.impatient = true;
    return;
  }
  w.cluster_passed &= ~w.mask;
  Cluster& cluster = *w.block->cluster;
  join_clocks(cluster.known[w.block->rank], cluster.released);
  cluster.met[w.block->rank] = all_lanes;
}

// mapa: a: address, b: rank, extra: of a generic address.
template <class T>
void map_address(Warp& w, const Instruction& i) {
  const T* a = row<const T>(w, i.a);
  const u32* rank = row<const u32>(w, i.b);
  T* d = row<T>(w, i.d);
  const u32 size = w.block->cluster ? static_cast<u32>(w.block->cluster->blocks.size()) : 1;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (rank[lane] >= size)
      report(w, i, Kind::out_of_bounds, lane, a[lane], fmt::format("mapa asks for rank {} of a cluster of {}", rank[lane], size));
    d[lane] = (a[lane] & ~(T{0xff} << cluster_rank_shift)) | static_cast<T>(static_cast<T>(rank[lane] + 1) << cluster_rank_shift);
  }
}

template <class T>
void rank_of_address(Warp& w, const Instruction& i) {
  const T* a = row<const T>(w, i.a);
  u32* d = row<u32>(w, i.d);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const u32 name = static_cast<u32>(a[lane] >> cluster_rank_shift & 0xff);
    d[lane] = name == 0 ? w.block->rank : name - 1;
  }
}

// Whether a generic address is of the warp's own block.
void is_own_shared(Warp& w, const Instruction& i) {
  const u64* a = row<const u64>(w, i.a);
  u32 own = 0;
  for (u32 lane = 0; lane < 32; ++lane) {
    const u64 offset = a[lane] - shared_window;
    own |= static_cast<u32>(offset < window_bytes && block_at(*w.block, static_cast<u32>(offset)) == w.block) << lane;
  }
  u32* p = row<u32>(w, i.d);
  *p = (*p & ~w.mask) | (own & w.mask);
}

void add_cluster_row(Operations& table, const std::string& name, const std::string& shape, Handler handler) { table[name] = {shape, handler, handler}; }

}  // namespace

void add_cluster_operations(Operations& table) {
  add_cluster_row(table, "_cluster.arrive", "", &arrive_at_cluster);
  add_cluster_row(table, "_cluster.wait", "", &wait_at_cluster);
  add_cluster_row(table, "isspacep.shared", "p8", &is_own_shared);
  add_cluster_row(table, "mapa.u32", "444", &map_address<u32>);
  add_cluster_row(table, "mapa.u64", "884", &map_address<u64>);
  add_cluster_row(table, "getctarank.u32", "44", &rank_of_address<u32>);
  add_cluster_row(table, "getctarank.u64", "48", &rank_of_address<u64>);
}

}  // namespace cudal1::sim
