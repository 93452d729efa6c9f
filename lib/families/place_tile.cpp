// SPDX-License-Identifier: Apache-2.0
#include "families/windows.hpp"

#include "algebra/dag.hpp"
#include "families/product_tiles.hpp"

#include <algorithm>

namespace cudal1::families {
std::int64_t most_taps(const Window& window) { return ceil_div(window.taps.values[0], tap_step(window)); }
std::int64_t step_channels(std::int64_t channels) { return channels <= 16 ? 16 : channels <= 32 ? 32 : 64; }

namespace {

std::int64_t halo(const Window& window) { return (most_taps(window) - 1) * input_step(window); }

// What a tile is made for.
struct Places {
  std::int64_t results, width, height, samples, layers;  // layers: tiles of the same places
  std::int64_t span;                                     // bytes of a line of channels
  std::int64_t taps, kinds;                              // that a tile meets at all channels; kinds of tiles by results, residues and groups
  int halves;
  Window across, down;
  bool strided_rows;                                     // results of a row are a stride apart
};

// Windows and some taps of weights have to find room in shared memory; best are all taps that a block meets.
bool fits(PlaceTile& tile, const Places& of, std::int64_t multiprocessors) {
  // A slot is free when the next one has been multiplied: so with one slot nothing would go on, at sizes where weights are not kept.
  constexpr std::int64_t most_slots = 12, fewest_slots = 3, fewest_kept = 2;
  const std::int64_t kept = std::max(of.taps, fewest_kept);
  const auto room = [&](std::int64_t windows) { return (warpgroup_ring_bytes - windows * tile.places * of.span * of.halves) / (tile.rows * of.span * of.halves); };
  tile.kept = kept <= room(2) && of.kinds * ceil_div(of.results, tile.rows) <= multiprocessors;
  tile.windows = room(3) >= (tile.kept ? kept : 2 * fewest_slots) ? 3 : 2;
  tile.slots = tile.kept ? kept : std::min(most_slots, room(tile.windows));
  return tile.slots >= (tile.kept ? fewest_kept : fewest_slots);
}

double share_of(std::int64_t all, std::int64_t part) { return static_cast<double>(all) / static_cast<double>(round_up(all, part)); }

PlaceTile tile_of(std::int64_t columns, std::int64_t width, const Places& of) {
  PlaceTile tile{of.halves == 1 || of.results <= 64 ? 64 : 128, columns, width, 1, 1, width + halo(of.across), 0, 0, 0};
  const std::int64_t most = std::min(of.height, (columns - width) / tile.pitch + 1);
  tile.height = ceil_div(of.height, ceil_div(of.height, most));
  tile.lines = tile.height + halo(of.down);
  if (width == of.width && tile.height == of.height)
    tile.samples = std::min(of.samples, 1 + (columns - (tile.height - 1) * tile.pitch - width) / (tile.lines * tile.pitch));
  tile.copied = tile.samples * tile.lines * tile.pitch;
  tile.places = round_up(halo(of.down) * tile.pitch + halo(of.across) + columns, 1024 / of.span);
  tile.share = share_of(of.width, width) * share_of(of.height, tile.height) * share_of(of.samples, tile.samples) *
               static_cast<double>(width * tile.height * tile.samples) / static_cast<double>(columns);
  return tile;
}

// The tile that takes the least time: places are wasted by few, blocks in the last round, and by copies that take longer than the products.
std::optional<PlaceTile> place_tile(const Places& of, std::int64_t multiprocessors) {
  constexpr double copied_bytes = 30, product_places = 2;  // a clock and multiprocessor; halves of 16 channels and 64 results; estimate
  constexpr std::int64_t widest_box = 256;
  std::optional<PlaceTile> best;
  for (const std::int64_t columns : {256, 128})
    for (std::int64_t parts = 1; parts <= of.width; ++parts) {
      const std::int64_t width = ceil_div(of.width, parts);
      if (width > columns || width + halo(of.across) > widest_box) continue;
      if (width < 8 && parts > 1) break;
      PlaceTile tile = tile_of(columns, width, of);
      if (tile.rows * columns * of.halves > 256 * 128 || tile.lines > widest_box || !fits(tile, of, multiprocessors)) continue;
      const std::int64_t tiles = of.layers * ceil_div(of.results, tile.rows) * ceil_div(of.width, width) * ceil_div(of.height, tile.height) * ceil_div(of.samples, tile.samples);
      const double taps = static_cast<double>(most_taps(of.across) * most_taps(of.down)), bytes = static_cast<double>(of.span * of.halves);
      const double copies = (static_cast<double>(tile.copied) + (tile.kept ? 0 : taps * static_cast<double>(tile.rows))) * bytes / copied_bytes;
      const double products = taps * static_cast<double>(columns * (tile.rows / 64) * (of.span / 32)) * (of.halves > 1 ? 3 : 1) / product_places;
      // Long rows are written faster, much faster where results are a stride apart.
      const double rows = width >= 32 ? 1 : !of.strided_rows ? 0.95 : width >= 16 ? 0.7 : 0.5;
      tile.worth = tile.share * static_cast<double>(tiles) / static_cast<double>(round_up(tiles, multiprocessors)) / std::max(1.0, copies / products) * rows * (columns == 256 ? 1 : 0.9);
      if (!best || tile.worth > best->worth) best = tile;
    }
  return best;
}

}  // namespace

std::optional<PlaceTile> convolution_tile(const Node& node, const Node& input, const Windows& windows, int halves, const schedule::Machine& machine) {
  const auto window = [&](std::size_t i) { return windows.axes[i].window; };
  const auto wanted = [&](std::size_t i) { return results_of_residue(node, window(i)); };
  const std::int64_t groups = node.as<Convolution>().groups;
  const std::int64_t channels = input.shape[1].values[0] / groups;
  const std::int64_t kinds = kinds_of_tiles(node, windows);
  std::int64_t taps = ceil_div(channels, step_channels(channels));
  for (std::size_t i = 0; i < 3; ++i) taps *= node.transposed() ? most_taps(window(i)) : window(i).taps.values[0];
  return place_tile({node.shape[1].values[0] / groups, wanted(2), wanted(1), input.shape[0].values[0], kinds * wanted(0), 2 * step_channels(channels), taps, kinds, halves, window(2), window(1),
                     has_residues(node, window(2))}, machine.multiprocessors);
}

}  // namespace cudal1::families
