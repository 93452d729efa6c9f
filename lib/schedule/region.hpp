// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"
#include "schedule/machine.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::schedule {

using namespace algebra;  // a schedule speaks of the nodes of a dag

// Where one dimension of a node lies in a kernel's iteration space.
struct Place {
  int dim = -1;            // of the iteration space; -1: the node has extent 1 here and so has everything else
  bool broadcast = false;  // the node has extent 1 along an iteration dimension that has more

  bool operator==(const Place&) const = default;
};

// A node as a kernel computes it: the same node read along different dimensions (X and X.T) is two instances.
struct Instance {
  enum class Level { row, element };  // changes from row to row only, or within a row
  int node = -1;
  bool leaf = false;          // read from memory, a number, or a coordinate
  std::string buffer = {};    // of a leaf in memory; empty for numbers
  std::vector<int> operands = {};  // instances
  tensor::Shape strides = {};      // leaf in memory or coordinate: per iteration dimension, 0 where broadcast
  tensor::Extent offset = {};      // leaf in memory: where its first element lies; empty: at the start
  Level level = Level::row;
  int phase = 0;             // how many reductions must be finished before it is known
  int indirect = -1;         // leaf in memory: the leaf of the row that is the indirect index of the element that is read; -1: none
  tensor::Extent step = {};  // from one element that an indirect index can mean to the next
};

constexpr std::int64_t most_layers = 65'535;  // of a grid, along its last two axes

// What one kernel computes: everything between buffers and one or more results, over one iteration space. Along the
// element dimensions a row of it is reduced, or simply walked when there is no reduction.
struct Region {
  tensor::Shape space;
  std::vector<char> element;        // per iteration dimension
  std::vector<Instance> instances;  // operands come first
  struct Root {
    int instance = -1;
    std::string buffer;
    tensor::Shape strides;
    tensor::Extent offset;  // as of a leaf
  };
  std::vector<Root> roots;
  int producer = -1;  // the product, convolution, pool, scan or gather whose results are the elements; -1: none
  bool reduces = false;
  std::size_t assignments = 1, workloads = 1;

  const Instance& at(int instance) const { return instances[static_cast<std::size_t>(instance)]; }
  int count() const { return static_cast<int>(instances.size()); }  // of instances
  tensor::Extent rows() const;     // product of the other dimensions
  tensor::Extent columns() const;  // product of the element dimensions
  int phases() const;               // of the last result
};

// Buffers that hold nodes: the inputs, and what earlier kernels have written.
using Buffers = std::map<int, std::string>;

struct Growth {
  std::optional<Region> region;
  int needs = -1;  // otherwise: this node must be in a buffer first
};

// Nodes of one shape, and the buffers that they go to.
using Results = std::vector<std::pair<int, std::string>>;

// The largest region that ends in `results` and can be one kernel. With `fuse` off every operation but views is a
// kernel of its own; the node `cut` is one in any case.
Growth grow(const Dag& dag, const Results& results, const Buffers& buffers, bool fuse, int cut, std::size_t workloads);

// Says what changes within a row only, and which reductions must be finished before an instance is known.
void set_levels(Region& region, const Dag& dag);

// Merges dimensions that every access walks as one, and reads the one element that a sum over all keeps where it lies.
void collapse(Region& region, const Dag& dag);
// Makes one of the dimensions from `first` on; false where an access walks them otherwise.
bool merge_from(Region& region, std::size_t first);

// The tensor of 16 bits that a factor of a product is a cast of, also one whose last two dimensions are swapped; -1: it is none.
int cast_from_half(const Dag& dag, int factor);
// Strides of a row-major tensor, 0 where it has extent 1.
tensor::Shape strides_of(const tensor::Shape& shape, std::size_t assignments);

// How threads walk a region's rows.
enum class Walk {
  pointwise,  // no reduction: blocks take chunks of a row
  rows,       // neighbouring threads share a row whose elements are neighbours in memory
  columns,    // neighbouring threads have neighbouring rows; elements are a stride apart
};

Walk walk_of(const Region& region, const Dag& dag);

// How often a row should be split so that the machine is busy; 1: not at all.
int splits_of(const Region& region, Walk walk, const Machine& machine);

}  // namespace cudal1::schedule
