// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/call.hpp"
#include "tensor/graph.hpp"
#include "tensor/shape.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::algebra {

// A torch line in the few primitives that kernels are generated from. Norms, softmax and the like are spelt out in
// them, so that the same generator fuses all of them.
enum class Kind {
  input,        // `function` is the buffer's name
  number,       // `function` is a C literal or an expression of sizes and scalars
  coordinate,   // the index along its only dimension that is not 1
  pointwise,    // `function` is a name of pointwise.hpp; operands broadcast as in torch
  reduce,       // `function` is sum, prod, max, min, argmax or argmin; the reduced `dims` stay, with extent 1
  permute,      // dimension i is the operand's dims[i]
  reshape,      // the same elements in row-major order
  product,      // matrix product of operands [..., n, k] and [..., k, m]
  attention,    // operands q, k, v of shapes [..., t, h] and a number that scores are multiplied by, or divided where the attribute
                // `divides` says so; without it by sqrt(h). Attribute is_causal
  convolution,  // operands input [b, c, d...] and weight; `function` is conv or conv_transpose, `windows` say how,
                // `attributes` groups
  pool,         // of [..., d...] the max or mean (`function`) of every window
  scan,         // along `dims`, one: `function` is sum or prod; `attributes` reverse
  slice,        // dimension i starts at `starts[i]` and goes on in steps of `dims[i]`
  cat,          // operands one after the other along `dims`, one
  gather,       // of operands table [n, m] and index of any shape: the rows (`dims` 0) or columns (1) of the table that the index
                // names; zeros where it names none
  window_sums,  // [b, c, d...] to [b, c, k...]: for each tap of a convolution's window the sum of the inputs that it
                // meets
};

struct Node {
  Kind kind = Kind::input;
  std::string function;
  std::vector<int> operands;
  tensor::Dtype dtype = tensor::Dtype::float32;
  tensor::Shape shape;
  std::vector<int> dims;
  tensor::Extent extent;  // of a number that is one: its text is C in integers, where `/` rounds down
  std::map<std::string, tensor::Attribute> attributes;
  // Per spatial dimension: of conv_transpose, tap k carries input i to result i * stride - padding + k * dilation; of
  // conv, input i to the result r with i = r * stride - padding + k * dilation. Only results in [0, outputs) exist.
  struct Window {
    std::int64_t stride = 1, padding = 0, dilation = 1;
    tensor::Extent outputs, taps;
    bool operator==(const Window&) const = default;
  };
  std::vector<Window> windows;
  tensor::Shape starts;
};

struct Dag {
  std::vector<Node> nodes;  // operands come first
  std::vector<std::pair<std::string, int>> outputs;

  int add(Node node);  // an equal node is used again
};

// Extents: equal means equal at every assignment.
tensor::Extent literal(std::int64_t value, std::size_t assignments);
tensor::Extent times(const tensor::Extent& a, const tensor::Extent& b);
tensor::Extent plus(const tensor::Extent& a, const tensor::Extent& b);
tensor::Extent product_of(const tensor::Shape& shape, std::size_t first, std::size_t last, std::size_t assignments);
std::int64_t largest(const tensor::Extent& extent, std::size_t assignments);  // over the first `assignments`
std::int64_t smallest(const tensor::Extent& extent, std::size_t assignments);
std::string in_parentheses(const std::string& text);  // unless it is one name or number

}  // namespace cudal1::algebra
