// SPDX-License-Identifier: Apache-2.0
#include "playbook/rule.hpp"

#include <algorithm>
#include <optional>

namespace cudal1::playbook {
namespace {

class Puller {
 public:
  explicit Puller(Dag& dag) : dag_(dag) {
    for (const Node& node : dag.nodes)
      for (const tensor::Extent& extent : node.shape) assignments_ = std::max(assignments_, extent.values.size());
  }

  // The sum of `id` over `dims` (kept with extent 1) without computing `id`; nothing when no product or convolution
  // is saved by it.
  std::optional<int> sum(int id, const std::vector<int>& dims) {
    const Node node = at(id);
    if (node.kind == Kind::product) return of_product(node, dims);
    if (node.kind == Kind::convolution) return of_convolution(node, dims);
    if (node.kind != Kind::pointwise) return std::nullopt;
    if (node.function == "neg") {
      const auto inner = sum(node.operands[0], dims);
      return inner ? std::optional(pointwise("neg", {*inner})) : std::nullopt;
    }
    if (node.function == "mul" || node.function == "div") {
      for (std::size_t side = 0; side < (node.function == "mul" ? 2u : 1u); ++side) {
        const int factor = node.operands[1 - side];
        if (!constant_along(factor, node, dims) || !same_shape(node.operands[side], node)) continue;
        if (const auto inner = sum(node.operands[side], dims))
          return pointwise(node.function,
                           side == 0 ? std::vector<int>{*inner, factor} : std::vector<int>{factor, *inner});
      }
      return std::nullopt;
    }
    if (node.function == "add" || node.function == "sub") {
      std::vector<int> parts;
      bool saved = false;
      for (int operand : node.operands) {
        std::optional<int> part;
        if (constant_along(operand, node, dims)) {
          part = pointwise("mul", {operand, count(node, dims)});
        } else {
          if (!same_shape(operand, node)) return std::nullopt;
          part = sum(operand, dims);
          saved = saved || part;
        }
        if (!part) return std::nullopt;
        parts.push_back(*part);
      }
      return saved ? std::optional(pointwise(node.function, parts)) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  const Node& at(int id) const { return dag_.nodes[static_cast<std::size_t>(id)]; }

  bool same_shape(int id, const Node& node) const { return at(id).shape == node.shape; }

  bool constant_along(int id, const Node& node, const std::vector<int>& dims) const {
    const tensor::Shape& shape = at(id).shape;
    return std::all_of(dims.begin(), dims.end(), [&](int dim) {
      const int own = dim - static_cast<int>(node.shape.size() - shape.size());
      return own < 0 || is_one(shape[static_cast<std::size_t>(own)]);
    });
  }

  int count(const Node& node, const std::vector<int>& dims) {
    tensor::Extent total = literal(1, assignments_);
    for (int dim : dims) total = times(total, node.shape[static_cast<std::size_t>(dim)]);
    Node number;
    number.kind = Kind::number;
    number.function = total.text;
    number.extent = total;
    number.dtype = node.dtype;
    return dag_.add(number);
  }

  int pointwise(const std::string& function, const std::vector<int>& operands) {
    Node node;
    node.kind = Kind::pointwise;
    node.function = function;
    node.operands = operands;
    std::size_t rank = 0;
    for (int operand : operands) rank = std::max(rank, at(operand).shape.size());
    node.shape.assign(rank, literal(1, assignments_));
    for (int operand : operands) {
      if (at(operand).kind != Kind::number) node.dtype = at(operand).dtype;
      const tensor::Shape& shape = at(operand).shape;
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (!is_one(shape[i])) node.shape[i + rank - shape.size()] = shape[i];
    }
    return dag_.add(node);
  }

  int reduce(int operand, const std::vector<int>& dims) {
    if (dims.empty()) return operand;
    Node node;
    node.kind = Kind::reduce;
    node.function = "sum";
    node.operands = {operand};
    node.dims = dims;
    node.dtype = at(operand).dtype;
    node.shape = at(operand).shape;
    for (int dim : dims) node.shape[static_cast<std::size_t>(dim)] = literal(1, assignments_);
    return dag_.add(node);
  }

  int swapped(int operand) {
    Node node;
    node.kind = Kind::permute;
    node.operands = {operand};
    node.dtype = at(operand).dtype;
    node.shape = at(operand).shape;
    for (std::size_t i = 0; i < node.shape.size(); ++i) node.dims.push_back(static_cast<int>(i));
    std::swap(node.dims[node.dims.size() - 1], node.dims[node.dims.size() - 2]);
    std::swap(node.shape[node.shape.size() - 1], node.shape[node.shape.size() - 2]);
    return dag_.add(node);
  }

  int reshaped(int operand, tensor::Shape shape) {
    Node node;
    node.kind = Kind::reshape;
    node.operands = {operand};
    node.dtype = at(operand).dtype;
    node.shape = std::move(shape);
    return dag_.add(node);
  }

  // Sums over rows go to the left factor, sums over columns to the right one.
  std::optional<int> of_product(const Node& product, const std::vector<int>& dims) {
    const int rank = static_cast<int>(product.shape.size());
    const bool rows = std::find(dims.begin(), dims.end(), rank - 2) != dims.end(),
               columns = std::find(dims.begin(), dims.end(), rank - 1) != dims.end();
    if (dims.size() != static_cast<std::size_t>((rows ? 1 : 0) + (columns ? 1 : 0))) return std::nullopt;
    int left = product.operands[0], right = product.operands[1];
    if (rows) left = reduce(left, {static_cast<int>(at(left).shape.size()) - 2});
    if (columns) right = reduce(right, {static_cast<int>(at(right).shape.size()) - 1});
    // What remains is a product with a vector.
    if (columns) {
      const int terms = pointwise("mul", {left, swapped(right)});
      return reduce(terms, {static_cast<int>(at(terms).shape.size()) - 1});
    }
    const int terms = pointwise("mul", {swapped(left), right});
    return reduce(terms, {static_cast<int>(at(terms).shape.size()) - 2});
  }

  // Over all positions every tap of the weight meets a fixed window of the input: the sums of those windows, times the
  // weight, are the sum of the results. One pass over the input replaces the convolution.
  std::optional<int> of_convolution(const Node& convolution, const std::vector<int>& dims) {
    if (std::get<std::int64_t>(convolution.attributes.at("groups")) != 1) return std::nullopt;
    const std::size_t spatial = convolution.windows.size();
    std::vector<int> all;
    for (std::size_t i = 0; i < spatial; ++i) all.push_back(static_cast<int>(i) + 2);
    if (dims != all) return std::nullopt;
    const Node input = at(convolution.operands[0]), weight = at(convolution.operands[1]);
    Node sums;
    sums.kind = Kind::window_sums;
    sums.function = convolution.function;
    sums.operands = {convolution.operands[0]};
    sums.dtype = convolution.dtype;
    sums.windows = convolution.windows;
    sums.shape = {input.shape[0], input.shape[1]};
    for (std::size_t i = 0; i < spatial; ++i) sums.shape.push_back(weight.shape[i + 2]);
    const int windows = dag_.add(sums);
    const tensor::Extent taps = product_of(weight.shape, 2, weight.shape.size(), assignments_),
                         one = literal(1, assignments_);
    const tensor::Extent batch = input.shape[0], channels = input.shape[1];
    const bool transposed = convolution.function == "conv_transpose";
    const tensor::Extent results = weight.shape[transposed ? 1 : 0];
    // [b, ci, 1, taps] * [ci, co, taps], or [b, 1, ci, taps] * [co, ci, taps].
    const int left = reshaped(
        windows, transposed ? tensor::Shape{batch, channels, one, taps} : tensor::Shape{batch, one, channels, taps});
    const int right = reshaped(convolution.operands[1], {weight.shape[0], weight.shape[1], taps});
    const int terms = pointwise("mul", {left, right});
    const int total = reduce(terms, transposed ? std::vector<int>{1, 3} : std::vector<int>{2, 3});
    tensor::Shape shape = {batch, results};
    shape.resize(2 + spatial, one);
    return reshaped(total, shape);
  }

  Dag& dag_;
  std::size_t assignments_ = 1;
};

}  // namespace

bool linear_sums(Dag& dag) {
  bool any = false;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node node = dag.nodes[i];
    if (node.kind != Kind::reduce || node.function != "sum") continue;
    Dag trial = dag;
    const auto sum = Puller(trial).sum(node.operands[0], node.dims);
    if (!sum) continue;
    dag = std::move(trial);
    redirect(dag, static_cast<int>(i), *sum);
    any = true;
  }
  if (any) dag = tidy(dag);
  return any;
}

}  // namespace cudal1::playbook
