// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"
#include "families/arguments.hpp"
#include "families/kernel_file.hpp"
#include "schedule/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::families {

constexpr const char *lower_names[] = {"d", "h", "w"}, *upper_names[] = {"D", "H", "W"};  // of axes, in kernels

// The windows of a pool or convolution over three axes; those it has not got come first, with extent 1.
struct Windows {
  struct Axis {
    tensor::Extent input;
    Window window;
    int dim = -1;        // of the result; -1: not there
    bool fixed = false;  // its taps are, and their text is a number
  };
  std::vector<Axis> axes;

  tensor::Extent taps() const;             // of one window
  std::vector<std::string> result() const;  // the coordinates of a convolution's result: at_b, at_o, at_h, at_w
};

bool is_fixed(const tensor::Extent& taps);  // as many at all sizes
double operations_of(const Node& convolution, const Node& input);  // at the first workload
Windows windows_of(const Node& node, const Node& input);

// Of a transposed convolution with a stride, the results r, r + stride, … along an axis meet every tap_step-th tap, and from tap to tap
// inputs that are input_step apart; some residues meet none where the dilation has a divisor of the stride. taps_of_residue declares the
// `first_` of their taps, how many there are (`T`), and `add_`: what the first tap's input has more than the result's number.
bool has_residues(const Node& convolution, const Window& window);
std::int64_t results_of_residue(const Node& convolution, const Window& window);       // along an axis, at most, at the first workload
std::int64_t kinds_of_tiles(const Node& convolution, const Windows& windows);         // by groups and residues: each meets weights of its own
std::int64_t tap_step(const Window& window);
std::int64_t input_step(const Window& window);
std::string taps_of_residue(const Window& window, const std::string& low, const std::string& up, const std::string& residue, const std::string& taps, const std::string& indent);

// How many elements the mean pool `node` divides by, at the result that `at` names; what it needs goes to `before`.
std::string divisor(const Node& node, const Windows& windows, const std::vector<std::string>& at, std::size_t indent,
                    Arguments& arguments, std::string& before);

// How the inputs that a tile of a convolution's results needs lie in shared memory, where all taps find them: row by row,
// the columns of a strip of results wide.
struct HaloTile {
  // Along the last two axes, where a result's inputs begin, seen from its neighbour's: as many rows or columns further, though
  // no more than a window spans, so that what no tap meets is left out.
  struct Axis {
    std::string span, low, row, shift;  // C
  };
  Axis h, w;
  std::int64_t strip = 1;  // columns of results
  std::int64_t line = 1;   // floats from row to row
  std::int64_t lanes = 1;  // threads that copy a plane
  std::string strips;      // how many strips there are
  std::string positions;   // in a strip
  std::string floats;      // of shared memory for the ring and its table
  bool packs = true;       // rows may be copied 16 bytes at a time
};

// For tiles of `tile` results, a tunable of 128 at most, and `stages` steps of 32 depths on their way; nothing where the
// inputs' places are 2^31 or more, or where an SM has no room for two tiles of 64 output channels.
std::optional<HaloTile> halo_tile(const Node& node, const Node& input, const Windows& windows, const std::string& tile,
                                      std::int64_t stages, const schedule::Machine& machine);

// The weights of a transposed convolution, [channels, results, taps…], as a product by residues wants them: for each group
// and residue by the strides a matrix of results by channels and taps, rows filled up with zeros to a multiple of four.
struct ArrangedWeights {
  std::string buffer;
  tensor::Extent row;  // elements
};

// Writes the kernel that makes them from `weights`. Layers come as in the kernel that reads them: groups first, then the residues
// of the last axis.
ArrangedWeights arrange_weights(const Windows& windows, std::int64_t groups, const tensor::Extent& channels,
                                const tensor::Extent& results, const std::string& weights, KernelFile& file);

// Taps along an axis that meet results together: of a transposed convolution those of a residue, of any other those of a phase, at most.
std::int64_t most_taps(const Window& window);

// Channels of a step of the depth of warpgroups' convolutions; a line of them has 32, 64 or 128 bytes.
std::int64_t step_channels(std::int64_t channels);

// A tile of results: `rows` channels, and places of width by height by samples among `columns`; its inputs are a window with a halo.
struct PlaceTile {
  std::int64_t rows, columns, width, height, samples;
  std::int64_t pitch, lines, copied, places;  // of a window: places of a line, lines of a sample, places that are copied, places that are read
  std::int64_t windows = 0, slots = 0;        // of inputs and of weights that shared memory holds
  bool kept = false;                          // all weights of a block's tiles have slots
  double share = 0, worth = 0;                // of the places that exist
};

// The tile that should take the least time for a convolution with that many halves; none where its window finds no room in shared memory.
std::optional<PlaceTile> convolution_tile(const Node& node, const Node& input, const Windows& windows, int halves, const schedule::Machine& machine);

}  // namespace cudal1::families
