// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>

namespace cudal1::algebra {
namespace {

class Puller {
 public:
  explicit Puller(Dag& dag) : dag_(dag), build_(dag) {}

  // The sum of `id` over `dims` (kept with extent 1) without computing `id`; nothing when no product or convolution
  // is saved by it.
  std::optional<int> sum(int id, const std::vector<int>& dims) {
    const Node node = at(id);
    if (node.is<Product>()) return of_product(node, dims);
    if (node.is<Convolution>()) return of_convolution(node, dims);
    if (node.is<Pool>()) return of_pool(node, dims);
    if (!node.is<Pointwise>()) return std::nullopt;
    if (node.computes("neg")) {
      const auto inner = sum(node.operands[0], dims);
      return inner ? std::optional(build_.pointwise("neg", {*inner})) : std::nullopt;
    }
    if (node.computes("mul") || node.computes("div")) {
      for (std::size_t side = 0; side < (node.computes("mul") ? 2u : 1u); ++side) {
        const int factor = node.operands[1 - side];
        if (!constant_along(dag_, factor, node, dims) || !same_shape(node.operands[side], node)) continue;
        if (const auto inner = sum(node.operands[side], dims))
          return build_.pointwise(node.function(),
                           side == 0 ? std::vector<int>{*inner, factor} : std::vector<int>{factor, *inner});
      }
      return std::nullopt;
    }
    if (node.computes("add") || node.computes("sub")) {
      std::vector<int> parts;
      bool saved = false;
      for (int operand : node.operands) {
        std::optional<int> part;
        if (same_shape(operand, node)) part = sum(operand, dims);
        saved = saved || part;
        parts.push_back(part ? *part : of_addend(operand, id, dims));
      }
      return saved ? std::optional(build_.pointwise(node.function(), parts)) : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  const Node& at(int id) const { return build_.at(id); }

  bool same_shape(int id, const Node& node) const { return at(id).shape == node.shape; }

  // The sum of what an addition broadcasts: over the dimensions that it has, times the others.
  int of_addend(int operand, int sum, const std::vector<int>& dims) {
    std::vector<int> own, missing;
    for (int dim : dims) {
      const int at_operand = dim - static_cast<int>(at(sum).shape.size() - at(operand).shape.size());
      if (at_operand < 0 || is_one(at(operand).shape[static_cast<std::size_t>(at_operand)])) missing.push_back(dim);
      else own.push_back(at_operand);
    }
    const int total = build_.sum(operand, own);
    return missing.empty() ? total : build_.pointwise("mul", {total, build_.number(build_.count(sum, missing), at(sum).dtype)});
  }

  // Sums over rows go to the left factor, sums over columns to the right one.
  std::optional<int> of_product(const Node& product, const std::vector<int>& dims) {
    const int rank = static_cast<int>(product.shape.size());
    const bool rows = std::find(dims.begin(), dims.end(), rank - 2) != dims.end(),
               columns = std::find(dims.begin(), dims.end(), rank - 1) != dims.end();
    if (dims.size() != static_cast<std::size_t>((rows ? 1 : 0) + (columns ? 1 : 0))) return std::nullopt;
    int left = product.operands[0], right = product.operands[1];
    if (rows) left = build_.sum(left, {static_cast<int>(at(left).shape.size()) - 2});
    if (columns) right = build_.sum(right, {static_cast<int>(at(right).shape.size()) - 1});
    // What remains is a product with a vector.
    if (columns) {
      const int terms = build_.pointwise("mul", {left, build_.swap_last(right)});
      return build_.sum(terms, {static_cast<int>(at(terms).shape.size()) - 1});
    }
    const int terms = build_.pointwise("mul", {build_.swap_last(left), right});
    return build_.sum(terms, {static_cast<int>(at(terms).shape.size()) - 2});
  }

  // Over samples and channels the sum is one of the inputs or of the weights. Over all positions every tap of the weight meets a fixed window of the input: the sums of those windows, times the
  // weight, are the sum of the results. One pass over the input replaces the convolution.
  std::optional<int> of_convolution(const Node& convolution, const std::vector<int>& dims) {
    if (convolution.as<Convolution>().groups != 1) return std::nullopt;
    const bool transposed = convolution.transposed();
    const std::size_t spatial = convolution.windows().size();
    int of = convolution.operands[0], by = convolution.operands[1];
    std::size_t positions = 0;
    for (int dim : dims)
      if (dim == 0) of = build_.sum(of, {0});
      else if (dim == 1) by = build_.sum(by, {transposed ? 1 : 0});
      else ++positions;
    if (positions == 0) {
      Node rest = convolution;
      rest.operands = {of, by};
      for (int dim : dims) rest.shape[static_cast<std::size_t>(dim)] = build_.one();
      return build_.add(rest);
    }
    if (positions != spatial) return std::nullopt;
    const Node input = at(of), weight = at(by);
    Node sums{WindowSums{transposed, convolution.windows()}, {of}, convolution.dtype, {input.shape[0], input.shape[1]}};
    for (std::size_t i = 0; i < spatial; ++i) sums.shape.push_back(weight.shape[i + 2]);
    const int windows = build_.add(sums);
    const tensor::Extent taps = product_of(weight.shape, 2, weight.shape.size(), build_.assignments()),
                         one = build_.one();
    const tensor::Extent batch = input.shape[0], channels = input.shape[1];
    const tensor::Extent results = weight.shape[transposed ? 1 : 0];
    // [b, ci, 1, taps] * [ci, co, taps], or [b, 1, ci, taps] * [co, ci, taps].
    const int left = build_.reshape(
        windows, transposed ? tensor::Shape{batch, channels, one, taps} : tensor::Shape{batch, one, channels, taps});
    const int right = build_.reshape(by, {weight.shape[0], weight.shape[1], taps});
    const int terms = build_.pointwise("mul", {left, right});
    const int total = build_.sum(terms, transposed ? std::vector<int>{1, 3} : std::vector<int>{2, 3});
    tensor::Shape shape = {batch, results};
    shape.resize(2 + spatial, one);
    return build_.reshape(total, shape);
  }

  // Windows that tile the input meet every value once. Others meet it as often as its place says: sums of windows again.
  std::optional<int> of_pool(const Node& pool, const std::vector<int>& dims) {
    const std::size_t spatial = pool.windows().size(), front = pool.shape.size() - spatial;
    std::vector<int> all;
    for (std::size_t i = front; i < pool.shape.size(); ++i) all.push_back(static_cast<int>(i));
    if (pool.as<Pool>().largest) return std::nullopt;
    if (dims.back() < static_cast<int>(front)) {
      Node rest = pool;
      rest.operands = {build_.sum(pool.operands[0], dims)};
      for (int dim : dims) rest.shape[static_cast<std::size_t>(dim)] = build_.one();
      return build_.add(rest);
    }
    if (dims != all) return std::nullopt;
    const Node input = at(pool.operands[0]);
    const bool include = pool.as<Pool>().counts_padding;
    bool tiles = true, even = true;  // even: all windows divide by the same number
    double taps = 1;
    for (std::size_t i = 0; i < spatial; ++i) {
      const Window& window = pool.windows()[i];
      taps *= static_cast<double>(window.taps.values[0]);
      for (std::size_t k = 0; k < window.taps.values.size(); ++k) {
        const std::int64_t extent = input.shape[front + i].values[k], own = window.taps.values[k];
        if (own != window.taps.values[0]) return std::nullopt;
        tiles = tiles && window.padding == 0 && window.stride == own && window.outputs.values[k] * own == extent;
        even = even && (window.padding == 0 || include) &&
               (window.outputs.values[k] - 1) * window.stride + own <= extent + 2 * window.padding;
      }
    }
    if (const auto fixed = pool.as<Pool>().divisor) taps = static_cast<double>(*fixed), even = true;
    const int divisor = build_.number(taps, pool.dtype);
    if (tiles) return build_.pointwise("div", {build_.sum(pool.operands[0], dims), divisor});
    if (!even || front != 2 || taps > 64) return std::nullopt;
    Node sums{WindowSums{false, pool.windows()}, pool.operands, pool.dtype, {input.shape[0], input.shape[1]}};
    for (const Window& window : pool.windows()) sums.shape.push_back(window.taps);
    return build_.pointwise("div", {build_.sum(build_.add(sums), dims), divisor});
  }

  Dag& dag_;
  Builder build_;
};

}  // namespace

bool linear_sums(Dag& dag) {
  return everywhere(dag, [&](int id) {
    const Node node = dag.at(id);
    if (!node.reduces("sum")) return false;
    Dag trial = dag;
    const auto sum = Puller(trial).sum(node.operands[0], node.as<Reduce>().dims);
    if (!sum) return false;
    dag = std::move(trial);
    redirect(dag, id, *sum);
    return true;
  });
}

}  // namespace cudal1::algebra
