// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/call.hpp"
#include "tensor/shape.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cudal1::algebra {

// Thrown where a torch line, or a part of it, has no kernels here; caught where a whole line is lowered or cut into kernels.
struct NotCovered {
  std::string reason;  // one sentence
};

// A torch line in the few primitives that kernels are generated from. Norms, softmax and the like are spelt out in
// them, so that the same generator fuses all of them. Each kind is a struct of what it takes beside its operands.
struct Input {
  std::string buffer;
  bool operator==(const Input&) const = default;
};
struct Number {
  std::string text;           // a C literal or an expression of sizes and scalars
  tensor::Extent extent = {};  // of a number that is one: its text is C in integers, where `/` rounds down
  bool operator==(const Number&) const = default;
};
// The index along its only dimension that is not 1.
struct Coordinate {
  bool operator==(const Coordinate&) const = default;
};
// Operands broadcast as in torch.
struct Pointwise {
  std::string function;  // a name of pointwise.hpp
  bool operator==(const Pointwise&) const = default;
};
// The reduced dimensions stay, with extent 1.
struct Reduce {
  std::string function;  // sum, prod, max, min, argmax or argmin
  std::vector<int> dims;
  bool operator==(const Reduce&) const = default;
};
struct Permute {
  std::vector<int> dims;  // dimension i is the operand's dims[i]
  bool operator==(const Permute&) const = default;
  bool swaps_last() const;  // the last two dimensions, and no others
};
// The same elements in row-major order.
struct Reshape {
  bool operator==(const Reshape&) const = default;
};
// Zero where column - row is beyond this diagonal: above it (lower) or below it.
struct Triangle {
  bool lower = true;
  std::int64_t diagonal = 0;
  bool operator==(const Triangle&) const = default;
};
// Matrix product of operands [..., n, k] and [..., k, m].
struct Product {
  std::optional<Triangle> left = {}, right = {};  // what a factor is known to be
  bool operator==(const Product&) const = default;
};
// Operands are q, k, v of shapes [..., t, h], and a number that scores are multiplied or divided by; without it they are
// divided by sqrt(h).
struct Attention {
  bool causal = false, divides = false;
  bool operator==(const Attention&) const = default;
};
// Along one dimension in space: of a transposed convolution, tap k carries input i to result i * stride - padding + k * dilation; of
// any other, input i to the result r with i = r * stride - padding + k * dilation. Only results in [0, outputs) exist.
struct Window {
  std::int64_t stride = 1, padding = 0, dilation = 1;
  tensor::Extent outputs, taps;
  bool operator==(const Window&) const = default;
};
// Operands are the input [b, c, d...] and the weights.
struct Convolution {
  bool transposed = false;
  std::int64_t groups = 1;
  std::vector<Window> windows;
  bool operator==(const Convolution&) const = default;
};
// Of [..., d...] the largest or the mean of every window.
struct Pool {
  bool largest = false, counts_padding = false;
  std::optional<std::int64_t> divisor;  // instead of how many elements a mean has
  std::vector<Window> windows;
  bool operator==(const Pool&) const = default;
};
struct Scan {
  std::string function;  // sum or prod
  int dim = 0;
  bool reverse = false;
  bool operator==(const Scan&) const = default;
};
// Dimension i starts at `starts[i]` and goes on in steps of `steps[i]`.
struct Slice {
  tensor::Shape starts;
  std::vector<int> steps;
  bool operator==(const Slice&) const = default;
};
// Operands one after the other.
struct Cat {
  int dim = 0;
  bool operator==(const Cat&) const = default;
};
// Operands are a table [n, m] and indices of any shape: the rows or columns of the table that they name; zeros where they name none.
struct Gather {
  bool rows = true;
  bool operator==(const Gather&) const = default;
};
// [b, c, d...] to [b, c, k...]: for each tap of a convolution's window the sum of the inputs that it meets.
struct WindowSums {
  bool transposed = false;
  std::vector<Window> windows;
  bool operator==(const WindowSums&) const = default;
};

using Operation = std::variant<Input, Number, Coordinate, Pointwise, Reduce, Permute, Reshape, Product, Attention, Convolution, Pool, Scan,
                               Slice, Cat, Gather, WindowSums>;

struct Node {
  Operation operation;
  std::vector<int> operands = {};
  tensor::Dtype dtype = tensor::Dtype::float32;
  tensor::Shape shape = {};

  template <typename Kind>
  bool is() const { return std::holds_alternative<Kind>(operation); }
  template <typename Kind>
  const Kind& as() const { return std::get<Kind>(operation); }
  bool computes(std::string_view function) const;  // for each element
  bool reduces(std::string_view function) const;
  const std::string& function() const;         // of a pointwise operation, reduction or scan; empty
  const std::vector<Window>& windows() const;  // of a convolution, pool or sums of windows; none
  bool transposed() const;                     // a transposed convolution, or its sums
  bool operator==(const Node&) const = default;
};

// For a reader: "sum", "a convolution".
std::string describe(const Node& node);

struct Dag {
  std::vector<Node> nodes;  // operands come first
  std::vector<std::pair<std::string, int>> outputs;

  int add(Node node);  // an equal node is used again
  const Node& at(int id) const { return nodes[static_cast<std::size_t>(id)]; }
  Node& at(int id) { return nodes[static_cast<std::size_t>(id)]; }
};

// Extents: equal means equal at every assignment.
tensor::Extent literal(std::int64_t value, std::size_t assignments);
bool is_zero(const tensor::Extent& extent);
tensor::Extent times(const tensor::Extent& a, const tensor::Extent& b);
tensor::Extent plus(const tensor::Extent& a, const tensor::Extent& b);
tensor::Extent product_of(const tensor::Shape& shape, std::size_t first, std::size_t last, std::size_t assignments);
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }
// Another text, and a change of every value.
template <typename Change>
tensor::Extent changed(tensor::Extent extent, std::string text, Change change) {
  extent.text = std::move(text);
  for (std::int64_t& value : extent.values) value = change(value);
  return extent;
}
// The same at every assignment, and in the text; `divided` rounds down.
tensor::Extent ceil_div(const tensor::Extent& extent, std::int64_t by);
tensor::Extent round_up(const tensor::Extent& extent, std::int64_t to);
tensor::Extent divided(const tensor::Extent& extent, std::int64_t by);
std::int64_t largest(const tensor::Extent& extent, std::size_t assignments);  // over the first `assignments`
double volume(const tensor::Shape& shape);  // elements at the first workload
std::int64_t smallest(const tensor::Extent& extent, std::size_t assignments);
// The shape that operands broadcast to.
tensor::Shape broadcast(const Dag& dag, const std::vector<int>& operands, std::size_t assignments);
// How many of the batch dimensions of a product a factor has.
enum class Batches { none, some, all };
Batches batches_of(const tensor::Shape& product, const tensor::Shape& factor);
std::string in_parentheses(const std::string& text);  // unless it is one name or number

}  // namespace cudal1::algebra
