// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/builder.hpp"
#include "algebra/lower.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::algebra {

// A lowering under way: the functions below append primitives and return the node with the result.
class Lowering : public Builder {
 public:
  Lowering(Dag& dag, const tensor::Graph& graph, const std::vector<tensor::Type>& types, const std::vector<tensor::Sizes>& sizes, const LowerOptions& options);
  void run();  // throws NotCovered

  // Of the operation being lowered.
  const tensor::Node& source() const { return *source_; }
  const tensor::Type& type() const { return *type_; }
  int operand(std::string_view parameter) const;  // a node of the dag; -1 when absent
  int input() const { return operand("input"); }
  std::vector<int> operands() const;              // all of them, in order
  bool truth(std::string_view attribute) const;
  double number_of(std::string_view attribute) const;
  std::int64_t integer(std::string_view attribute) const;
  std::string word(std::string_view attribute) const;
  bool given(std::string_view attribute) const;                                             // not None
  std::vector<std::int64_t> integers(std::string_view attribute, std::size_t count) const;  // one serves all
  // They may be written in sizes; `count` 0: as many as there are.
  std::vector<tensor::Extent> extents(std::string_view attribute, std::size_t count = 0) const;
  tensor::Extent extent(std::string_view attribute) const { return extents(attribute, 1)[0]; }
  std::vector<int> axes(std::string_view attribute, std::size_t rank) const;                // sorted; all when None
  std::vector<int> axes(std::string_view attribute) const { return axes(attribute, at(input()).shape.size()); }
  std::size_t axis(std::size_t rank) const { return static_cast<std::size_t>(axes("dim", rank).at(0)); }
  std::vector<int> order(std::string_view attribute, std::size_t rank) const;               // as written
  const LowerOptions& options() const { return options_; }

  // Primitives.
  int literal_number(double value, tensor::Dtype dtype = tensor::Dtype::float32);
  int given_number(std::string_view attribute) { return literal_number(number_of(attribute)); }
  int coordinate(const tensor::Extent& extent, std::size_t dim, std::size_t rank);
  int product(int a, int b);  // [..., n, k] by [..., k, m]
  int mean(int operand, const std::vector<int>& dims);
  int log_sum_exp(int operand, const std::vector<int>& dims);
  int expand(int operand, const tensor::Shape& shape);
  // `extent` elements of one dimension from `start` on.
  int slice(int operand, std::size_t dim, const tensor::Extent& start, const tensor::Extent& extent, int step = 1);
  int cat(const std::vector<int>& operands, std::size_t dim);  // without those of extent 0
  int as(int operand, tensor::Dtype dtype);  // what is `wide` already stays so
  int squeeze(int operand, const std::vector<int>& dims, bool keep);  // keep: as it is

 private:
  template <typename Value>
  const Value* attribute(std::string_view name) const;  // null: of another type, or none
  int lower(const tensor::Node& node);
  int rounded(int operand, tensor::Dtype dtype);
  std::string number_text(const std::string& python) const;

  const tensor::Graph& graph_;
  const std::vector<tensor::Type>& types_;
  const std::vector<tensor::Sizes>& sizes_;
  LowerOptions options_;
  std::vector<int> lowered_;
  const tensor::Node* source_ = nullptr;
  const tensor::Type* type_ = nullptr;
};

// One row for each torch function that is more than an element's function: its name and how it is spelt out.
struct LoweringRow {
  std::string function;
  std::function<int(Lowering&)> lower;
};
using LoweringRows = std::vector<LoweringRow>();
LoweringRows pointwise_lowerings, reduction_lowerings, product_lowerings, window_lowerings, place_lowerings;

// The product of `weights` and `v` as one attention, where the weights are softmax(q @ k.T), scaled or not; else -1.
int spelt_attention(Lowering& l, int weights, int v);

// A product of factors that share some of their batch dimensions: the others are more rows or columns.
int shared_batches(Lowering& l, int a, int b);

}  // namespace cudal1::algebra
