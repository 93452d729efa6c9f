// SPDX-License-Identifier: Apache-2.0
// Each recorded block is replayed through its share of an L1: its warps take turns, access by access. What misses goes to its
// share of the L2. How blocks share what they read is seen between neighbours, or in a whole wave of blocks where that is cheap.
#include "sim/traffic.hpp"

#include "sim/cache.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace cudal1::sim {

namespace {

// Part of the L2 that a kernel's own data can count on: reads are cached in both halves of the L2 of large GPUs.
constexpr double usable_l2 = 0.6;
constexpr std::uint64_t sector_bytes = 32;

// L1 and shared memory together, and the sizes that shared memory can have, per compute capability (CUDA tuning guides of
// the Ampere, Ada and Hopper architectures).
std::size_t unified_bytes(const outcome::DeviceFacts& gpu) {
  if (gpu.major >= 9) return std::size_t{256} << 10;
  return (gpu.major == 8 && gpu.minor == 0 ? std::size_t{192} : std::size_t{128}) << 10;
}
std::size_t carveout(const outcome::DeviceFacts& gpu, std::size_t shared) {
  for (const std::size_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228})
    if (shared <= kib << 10) return kib << 10;
  return gpu.shared_bytes_per_sm;
}

struct Miss {
  std::uint64_t sector;
  std::uint32_t site;
  bool store, local;
};

struct SiteReplay {
  double accesses = 0, sectors = 0, lines = 0, missing_l1 = 0, missed_l1_sectors = 0, missing_l2 = 0, missed_l2_sectors = 0;
};

bool is_store(SiteFacts::Kind kind, const std::string& opcode) {
  return kind == SiteFacts::Kind::store || (kind == SiteFacts::Kind::local && opcode.starts_with("st"));
}

// One block through the L1; what misses is appended in order.
void replay_l1(const Program& program, const Recording& recording, std::size_t l1_bytes, std::vector<SiteReplay>& sites, std::vector<Miss>& misses) {
  SectorCache l1(l1_bytes);
  std::vector<std::size_t> next(recording.warps.size());
  for (bool any = true; any;) {
    any = false;
    for (std::size_t w = 0; w < recording.warps.size(); ++w) {
      const auto& accesses = recording.warps[w].accesses;
      if (next[w] >= accesses.size()) continue;
      any = true;
      const Recording::Access& access = accesses[next[w]++];
      const SiteFacts& facts = program.sites[access.site];
      if (facts.kind == SiteFacts::Kind::atomic) continue;
      const bool local = facts.kind == SiteFacts::Kind::local, store = is_store(facts.kind, program.statements[facts.statement].opcode);
      SiteReplay& site = sites[access.site];
      site.accesses += 1;
      site.sectors += access.count;
      bool missing = false;
      for (std::uint32_t k = 0; k < access.count;) {
        const std::uint64_t line = recording.places[access.first + k] / 4;
        unsigned mask = 0;
        for (; k < access.count && recording.places[access.first + k] / 4 == line; ++k) mask |= 1u << (recording.places[access.first + k] % 4);
        site.lines += 1;
        // Stores to global memory go through; those to local memory stay.
        const unsigned absent = store && !local ? mask : l1.touch(line, mask);
        if (!absent) continue;
        missing = true;
        for (unsigned s = 0; s < 4; ++s)
          if (absent >> s & 1) misses.push_back({line * 4 + s, access.site, store, local}), site.missed_l1_sectors += 1;
      }
      site.missing_l1 += missing;
    }
  }
}

// A buffer as the recorded blocks use it, loads and stores apart.
struct Use {
  double bytes = 0;              // of the buffer
  double per_block = 0;          // distinct sectors that a block asks for
  std::array<double, 3> overlap{};  // share of them that its neighbour asks for too
  double wave = 0;               // distinct sectors of all resident blocks
  double runs = 0;               // stretches they form
  double refetched = 0;          // sectors that a block asks the DRAM for again
};
using Key = std::pair<const Allocation*, bool>;

class Places {
 public:
  explicit Places(const GlobalMemory& memory) : memory_(memory) {}
  const Allocation* of(std::uint64_t sector) {
    const std::uint64_t address = sector * sector_bytes;
    if (last_ && last_->covers(address & ~std::uint64_t{31}, address + 1)) return last_;
    // The sector may begin before the buffer's first byte or end behind its last.
    const Allocation* found = memory_.find(address, address + 1);
    if (!found) found = memory_.nearest(address);
    return last_ = found;
  }

 private:
  const GlobalMemory& memory_;
  const Allocation* last_ = nullptr;
};

using Footprint = std::map<Key, std::vector<std::uint64_t>>;

Footprint footprint(const std::vector<Miss>& misses, Places& places) {
  Footprint result;
  for (const Miss& miss : misses)
    if (!miss.local) result[{places.of(miss.sector), miss.store}].push_back(miss.sector);
  for (auto& [key, sectors] : result) {
    std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  }
  return result;
}

double common(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::size_t i = 0, j = 0, same = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) ++same, ++i, ++j;
    else a[i] < b[j] ? ++i : ++j;
  }
  return static_cast<double>(same);
}

// Steps that an atomic access takes in each line it touches. Words of a line in ascending order.
std::map<std::uint64_t, double> atomic_steps(const Recording& recording, const Recording::Access& access) {
  std::vector<std::uint64_t> words(recording.places.begin() + access.first, recording.places.begin() + access.first + access.count);
  std::sort(words.begin(), words.end());
  std::map<std::uint64_t, double> steps;
  for (std::size_t k = 0; k < words.size();) {
    const std::uint64_t sector = words[k] / 8;
    std::size_t most = 1;
    for (std::size_t same = 0; k < words.size() && words[k] / 8 == sector; ++k) {
      same = k > 0 && words[k] == words[k - 1] ? same + 1 : 1;
      most = std::max(most, same);
    }
    steps[sector / 4] += static_cast<double>(most);
  }
  return steps;
}

void add_atomics(const Launch& launch, const RecordedBlocks& blocks, double grid, Traffic& result) {
  std::map<std::uint64_t, std::map<std::uint64_t, double>> by_line;  // line → block → steps
  double all = 0;
  for (const auto& [number, recording] : *blocks.recordings)
    for (const auto& warp : recording.warps)
      for (const auto& access : warp.accesses) {
        if (launch.program->sites[access.site].kind != SiteFacts::Kind::atomic) continue;
        for (const auto& [line, steps] : atomic_steps(recording, access)) by_line[line][number] += steps, all += steps;
      }
  const double factor = grid / static_cast<double>(std::max<std::size_t>(1, blocks.recordings->size()));
  result.atomic_steps = all * factor;
  for (const auto& [line, by_block] : by_line) {
    double steps = 0;
    if (blocks.whole_wave) {
      // What only one of many blocks updates is taken for its own.
      for (const auto& [block, count] : by_block) steps += count;
      if (by_block.size() > 1 || blocks.recordings->size() == 1) steps *= factor;
    } else if (const auto own = by_block.find(blocks.first); own != by_block.end()) {
      steps = own->second;
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (blocks.neighbours[axis] != blocks.first && by_block.contains(blocks.neighbours[axis])) steps *= launch.grid[axis];
    }
    result.hottest_line_steps = std::max(result.hottest_line_steps, steps);
  }
}

}  // namespace

Residency residency(const outcome::DeviceFacts& gpu, int registers, std::size_t shared_bytes, int threads_per_block, std::uint64_t grid) {
  const auto occupancy = outcome::occupancy(gpu, registers > 0 ? registers : 32, shared_bytes, threads_per_block);
  Residency result;
  const auto sms = static_cast<std::uint64_t>(gpu.sm_count);
  result.blocks_per_sm = std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(1, occupancy.blocks_per_sm)), (grid + sms - 1) / sms);
  result.blocks = std::min(grid, result.blocks_per_sm * sms);
  const std::size_t shared = shared_bytes ? result.blocks_per_sm * (shared_bytes + 1024) : 0;
  result.l1_bytes = unified_bytes(gpu) - std::min(unified_bytes(gpu) - (std::size_t{16} << 10), carveout(gpu, shared));
  return result;
}

Traffic traffic(const Launch& launch, const outcome::DeviceFacts& gpu, const Residency& residency, const RecordedBlocks& blocks,
                const std::vector<SiteTotal>& totals, std::vector<SiteReach>& reach) {
  const Program& program = *launch.program;
  Traffic result;
  const double grid = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const double resident = static_cast<double>(residency.blocks);
  std::vector<SiteReplay> sites(program.sites.size());
  const std::size_t l1_share = std::max<std::size_t>(4096, residency.l1_bytes / residency.blocks_per_sm);
  Places places(*launch.memory);
  std::map<Key, Use> uses;
  std::map<std::uint64_t, Footprint> footprints;
  std::vector<Miss> first_misses;
  std::map<Key, std::vector<std::uint64_t>> wave;
  const auto recorded = static_cast<double>(blocks.recordings->size());
  for (const auto& [number, recording] : *blocks.recordings) {
    std::vector<Miss> misses;
    replay_l1(program, recording, l1_share, sites, misses);
    Footprint mine = footprint(misses, places);
    for (const auto& [key, sectors] : mine) {
      uses[key].bytes = key.first ? static_cast<double>(key.first->bytes) : 0;
      uses[key].per_block += static_cast<double>(sectors.size()) / recorded;
      if (blocks.whole_wave) wave[key].insert(wave[key].end(), sectors.begin(), sectors.end());
    }
    if (number == blocks.first) first_misses = std::move(misses);
    if (!blocks.whole_wave) footprints[number] = std::move(mine);
  }
  double wave_bytes = 0, all_per_block = 0;
  for (auto& [key, use] : uses) {
    const double most = use.bytes / sector_bytes + 1;
    if (blocks.whole_wave) {
      auto& sectors = wave[key];
      std::sort(sectors.begin(), sectors.end());
      sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
      use.wave = static_cast<double>(sectors.size());
      for (std::size_t k = 0; k < sectors.size() && !key.second; ++k) use.runs += k == 0 || sectors[k] != sectors[k - 1] + 1;
    } else {
      // Neighbours along x, y and z are taken to share alike over the whole wave.
      double left = resident;
      use.wave = use.per_block;
      const auto& own = footprints.at(blocks.first)[key];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double extent = std::min<double>(launch.grid[axis], std::ceil(left));
        left /= launch.grid[axis];
        if (extent <= 1 || blocks.neighbours[axis] == blocks.first || own.empty()) continue;
        const double overlap = common(own, footprints.at(blocks.neighbours[axis])[key]) / static_cast<double>(own.size());
        use.wave *= 1 + (extent - 1) * (1 - overlap);
      }
    }
    use.wave = std::min(use.wave, most);
    wave_bytes += use.wave * sector_bytes;
    all_per_block += use.per_block;
  }
  // A block's share of the L2 grows with what it shares.
  const double sharing = all_per_block > 0 ? std::clamp(wave_bytes / sector_bytes / (resident * all_per_block), 1e-6, 1.0) : 1.0;
  const double l2 = usable_l2 * static_cast<double>(gpu.l2_bytes);
  SectorCache l2_share(static_cast<std::size_t>(std::clamp(l2 / (resident * sharing), 4096.0, l2)));
  for (const Miss& miss : first_misses) {
    const bool absent = l2_share.touch(miss.sector / 4, 1u << miss.sector % 4) != 0;
    sites[miss.site].missed_l2_sectors += absent;
    if (absent && !miss.local) uses[{places.of(miss.sector), miss.store}].refetched += 1;
  }
  const double waves = std::max(1.0, grid / resident);
  double total_bytes = 0;
  for (const auto& [key, use] : uses) total_bytes += std::min(use.bytes, waves * use.wave * sector_bytes);
  for (const auto& [key, use] : uses) {
    const double once = std::min(use.bytes, waves * use.wave * sector_bytes), each_wave = waves * use.wave * sector_bytes;
    // A later wave finds what an earlier one read if all that lies between fits.
    const double between = std::min(wave_bytes, total_bytes);
    const double kept = std::clamp(2 - between / l2, 0.0, 1.0);
    double bytes = kept * once + (1 - kept) * each_wave;
    const auto own = footprints.find(blocks.first);
    const double distinct = blocks.whole_wave ? use.per_block : own == footprints.end() ? use.per_block : static_cast<double>(own->second[key].size());
    if (distinct > 0) bytes *= std::max(1.0, use.refetched / distinct);
    (key.second ? result.dram_write_bytes : result.dram_read_bytes) += bytes;
    if (use.wave > 0) result.dram_runs += use.runs * bytes / (use.wave * sector_bytes);
  }
  double own_bytes = 0;
  for (const auto& [key, use] : uses)
    if (!key.second) own_bytes += use.per_block * sector_bytes * grid;
  const double fetched = own_bytes > 0 ? std::min(1.0, result.dram_read_bytes / own_bytes) : 0;
  reach.assign(program.sites.size(), {});
  for (std::size_t s = 1; s < sites.size(); ++s) {
    const SiteReplay& site = sites[s];
    const SiteTotal& total = totals[s];
    const SiteFacts& facts = program.sites[s];
    if (facts.kind == SiteFacts::Kind::atomic) {
      result.l2_write_sectors += total.sectors;
      continue;
    }
    if (site.accesses == 0) continue;
    // A fragment of a matrix is loaded in pieces that come back to the same lines.
    const double pieces = program.statements[facts.statement].opcode.starts_with("wmma") ? 2 : 1;
    const double lines = pieces * site.lines / site.accesses, missed = site.missed_l1_sectors / site.sectors;
    reach[s] = {lines, site.missing_l1 / site.accesses, fetched * site.missing_l1 / site.accesses};
    const bool store = is_store(facts.kind, program.statements[facts.statement].opcode);
    (store ? result.store_lines : result.load_lines) += total.requests * lines;
    if (!store || facts.kind == SiteFacts::Kind::local) result.l1_sectors += total.sectors;
    (store ? result.l2_write_sectors : result.l2_read_sectors) += total.sectors * missed;
  }
  add_atomics(launch, blocks, grid, result);
  return result;
}

}  // namespace cudal1::sim
