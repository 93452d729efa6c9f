// SPDX-License-Identifier: Apache-2.0
#include "families/straight_tile.hpp"

#include "algebra/dag.hpp"
#include "families/costs.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace cudal1::families {

MetTaps met_taps(const Node& node, const Window& window) {
  if (!node.transposed()) return {1, window.taps.values[0], window.dilation};
  return {tap_step(window), most_taps(window), input_step(window)};
}

namespace {

constexpr std::int64_t room = 224 << 10;  // of shared memory, beside barriers
constexpr std::int64_t most_windows = 6, most_slots = 64, fewest_slots = 3;

// What a tile is made for.
struct Places {
  std::int64_t channels, results;  // of a group
  std::int64_t kinds;              // groups and residues: tiles that meet weights of their own
  std::int64_t planes, height, width;  // places of a kind
  std::array<MetTaps, 3> taps;
  std::int64_t stride_h, stride_w;
  bool part_sectors;                   // results of a row are a stride apart, or rows do not begin where sectors do
  bool unaligned;                      // inputs of a row are copied one by one
};

// How often a warp's lanes, four channels of eight places, have to wait for a bank of shared memory.
std::int64_t conflicts(std::int64_t plane, std::int64_t stride) {
  std::array<std::int64_t, 32> asked{};
  for (std::int64_t lane = 0; lane < 32; ++lane) ++asked[static_cast<std::size_t>((lane % 4 * plane + lane / 4 * stride) % 32)];
  return *std::max_element(asked.begin(), asked.end());
}

// The window of a tile, its planes padded so that banks differ.
void place_window(StraightTile& tile, const Places& of) {
  const auto spanned = [](std::int64_t places, std::int64_t stride, const MetTaps& taps) { return (places - 1) * stride + (taps.most - 1) * taps.step + 1; };
  constexpr std::int64_t unaligned = 3;  // columns before the first, as copies of four begin at multiples of four
  tile.lines = spanned(tile.height, of.stride_h, of.taps[1]);
  tile.pitch = round_up(spanned(tile.width, of.stride_w, of.taps[2]) + unaligned, 4);
  const std::int64_t least = tile.lines * tile.pitch;
  tile.plane = least;
  for (std::int64_t plane = least; plane < least + 32; plane += 4)
    if (conflicts(plane, of.stride_w) < conflicts(tile.plane, of.stride_w)) tile.plane = plane;
}

std::int64_t steps_of(const StraightTile& tile, const Places& of) { return ceil_div(of.channels, tile.channels) * of.taps[0].most; }

// All weights that a block meets, if there is room; else a ring of them.
bool fits(StraightTile& tile, const Places& of, bool& kept, std::int64_t multiprocessors) {
  const std::int64_t slot = tile.slot_bytes(of.taps[1]), window = 2 * tile.channels * tile.plane * 4, all = std::max<std::int64_t>(2, steps_of(tile, of) * of.taps[2].most);
  kept = all <= most_slots && all * slot + 2 * window <= room && of.kinds * ceil_div(of.results, tile.columns) <= multiprocessors;
  tile.slots = kept ? all : std::min(8L, (room - 2 * window) / slot);
  if (tile.slots < (kept ? 2 : fewest_slots)) return false;
  tile.windows = std::min(most_windows, (room - tile.slots * slot) / window);
  return true;
}

// Registers that hold inputs, twice: as they were read, and rounded.
std::int64_t fragments(const StraightTile& tile, const Places& of) {
  std::set<std::int64_t> lines;
  for (std::int64_t block = 0; block < tile.block_h; ++block)
    for (std::int64_t tap = 0; tap < of.taps[1].most; ++tap) lines.insert(block * of.stride_h + tap * of.taps[1].step);
  return static_cast<std::int64_t>(lines.size()) * tile.block_w * (tile.channels / 8) * 4;
}

// Clocks of a multiprocessor, whose two warpgroups have a tile each at once. Tensor cores multiply 64 by 8 by 2 elements in one, and shared memory gives 128 bytes.
// The windows' copies bound most convolutions: a warp takes long over 512 bytes, and fewer warps copy where weights are not kept. Fitted to 68 tiles on an H100.
double clocks(const StraightTile& tile, const Places& of, bool kept, std::int64_t multiprocessors) {
  constexpr double tensor_share = 0.8, copy_clocks = 225, unaligned_copies = 1.2, weight_bytes = 14, stored_bytes = 12, tile_clocks = 1000, step_clocks = 60, part_sectors = 1.6;
  const double blocks = static_cast<double>(tile.block_h * tile.block_w), parts = static_cast<double>(tile.channels / 8), columns = static_cast<double>(tile.columns);
  const double products = 2 * parts * static_cast<double>(of.taps[1].most) * blocks;  // of both warpgroups, for a column of taps
  const double read = 2 * 4 * static_cast<double>(fragments(tile, of) * conflicts(tile.plane, of.stride_w)), multiplied = products * columns / 2;
  const double slot = static_cast<double>(tile.slot_bytes(of.taps[1])), taps = static_cast<double>(of.taps[2].most), steps = static_cast<double>(steps_of(tile, of));
  const double copies = static_cast<double>(tile.channels * tile.lines * tile.pitch) * 4 / 512 / (kept ? 2 : 1) * (of.unaligned ? unaligned_copies : 1);
  const double step = std::max({taps * (read + multiplied / 2), copies * copy_clocks, kept ? 0 : taps * slot / weight_bytes});
  // Long rows are written faster, and rows of whole sectors much faster.
  const double rows = (tile.width >= 32 ? 1 : 0.9) / (of.part_sectors ? part_sectors : 1);
  const double results = 2 * 64 * blocks * std::min(columns, static_cast<double>(of.results)) * 4 / stored_bytes / rows;
  const std::int64_t tiles = of.kinds * ceil_div(of.results, tile.columns) * ceil_div(of.planes * ceil_div(of.height, tile.height) * ceil_div(of.width, tile.width), 2);
  const double rounds = static_cast<double>(ceil_div(tiles, multiprocessors));
  // One warpgroup writes while the other multiplies.
  return rounds * (std::max(steps * taps * multiplied / tensor_share, steps * (step + step_clocks) + results) + tile_clocks) + static_cast<double>(tile.slots) * slot / weight_bytes;
}

}  // namespace

std::optional<StraightTile> straight_tile(const Node& node, const Node& input, const Windows& windows, const schedule::Machine& machine) {
  constexpr std::int64_t most_sums = 128, most_registers = 184;  // of a thread
  const std::int64_t groups = node.as<Convolution>().groups;
  const auto window = [&](std::size_t i) { return windows.axes[i].window; };
  const auto wanted = [&](std::size_t i) { return results_of_residue(node, window(i)); };
  const bool apart = has_residues(node, window(2)) || window(2).outputs.values[0] % 4 != 0, ragged = windows.axes[2].input.values[0] % 4 != 0;
  Places of{input.shape[1].values[0] / groups, node.shape[1].values[0] / groups, kinds_of_tiles(node, windows),
            input.shape[0].values[0] * wanted(0), wanted(1), wanted(2), {}, 1, 1, apart, ragged};
  for (std::size_t i = 0; i < 3; ++i) of.taps[i] = met_taps(node, window(i));
  if (!node.transposed()) of.stride_h = windows.axes[1].window.stride, of.stride_w = windows.axes[2].window.stride;
  std::optional<StraightTile> best;
  for (const std::int64_t columns : {128, 96, 64, 32, 16})
    for (const std::int64_t channels : {8, 16, 32})
      for (const std::int64_t blocks : {4, 2, 1})
        for (std::int64_t block_w = 1; block_w <= blocks; block_w *= 2)
          for (const bool lines : {true, false})
            for (const std::int64_t warps_w : {1, 2, 4}) {
              StraightTile tile{};
              tile.columns = columns, tile.channels = channels, tile.block_h = blocks / block_w, tile.block_w = block_w, tile.warps_w = warps_w;
              tile.pair_h = lines ? tile.block_h : 0, tile.pair_w = lines ? 0 : 8 * block_w;
              tile.strip_h = tile.block_h + tile.pair_h, tile.strip_w = 8 * block_w + tile.pair_w;
              tile.height = 4 / warps_w * tile.strip_h, tile.width = warps_w * tile.strip_w;
              if ((channels > 8 && channels >= 2 * of.channels) || tile.height >= 2 * of.height + 2 || blocks * columns / 2 > most_sums) continue;
              place_window(tile, of);
              bool kept = false;
              if (blocks * columns / 2 + 2 * fragments(tile, of) > most_registers || !fits(tile, of, kept, machine.multiprocessors)) continue;
              tile.clocks = clocks(tile, of, kept, machine.multiprocessors);
              if (!best || tile.clocks < best->clocks) best = tile;
            }
  return best;
}

}  // namespace cudal1::families
