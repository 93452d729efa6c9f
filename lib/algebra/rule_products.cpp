// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

namespace cudal1::algebra {
namespace {

double cost(const Dag& dag, const Node& product) {
  return volume(product.shape) *
         static_cast<double>(dag.at(product.operands[0]).shape.back().values[0]);
}

std::size_t uses(const Dag& dag, int id) { return users(dag, id).size(); }

Node product_of_two(const Dag& dag, int a, int b) {
  const Node& left = dag.at(a);
  return {Product{}, {a, b}, left.dtype, {left.shape[0], dag.at(b).shape[1]}};
}

bool plain(const Dag& dag, const Node& product) {
  return product.is<Product>() && product.shape.size() == 2 &&
         dag.at(product.operands[0]).shape.size() == 2 &&
         dag.at(product.operands[1]).shape.size() == 2;
}

// A product with a vector, sum_k M[i, k] * v[k] or sum_k v[k] * M[k, j], where M is itself the product A @ B: the vector
// meets the nearer factor first, and no matrix is made.
bool vector_first(Dag& dag) {
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node sum = dag.nodes[i];
    if (!sum.reduces("sum") || sum.shape.size() != 2 || sum.as<Reduce>().dims.size() != 1 || uses(dag, sum.operands[0]) != 1) continue;
    const Node terms = dag.at(sum.operands[0]);
    if (!terms.computes("mul")) continue;
    const int along = sum.as<Reduce>().dims[0], across = 1 - along;
    for (std::size_t side = 0; side < 2; ++side) {
      const Node product = dag.at(terms.operands[side]);
      const int vector = terms.operands[1 - side];
      const tensor::Shape& shape = dag.at(vector).shape;
      if (!plain(dag, product) || !(product.shape == terms.shape) || uses(dag, terms.operands[side]) != 1 || shape.size() != 2 ||
          !is_one(shape[static_cast<std::size_t>(across)]))
        continue;
      Builder build(dag);
      const int near = product.operands[static_cast<std::size_t>(along)], far = product.operands[static_cast<std::size_t>(across)];
      const int weights = build.swap_last(build.sum(build.pointwise("mul", {near, vector}), {along}));
      redirect(dag, static_cast<int>(i), build.sum(build.pointwise("mul", {far, weights}), {along}));
      dag = tidy(dag);
      return true;
    }
  }
  return false;
}

}  // namespace

// Groups a chain of matrices the cheaper way, as long as one regrouping pays.
bool chain_order(Dag& dag) {
  bool any = false;
  while (vector_first(dag)) any = true;
  for (int round = 0; round < 16; ++round) {
    bool changed = false;
    for (std::size_t i = 0; i < dag.nodes.size() && !changed; ++i) {
      const Node outer = dag.nodes[i];
      if (!plain(dag, outer)) continue;
      for (int side = 0; side < 2 && !changed; ++side) {
        const int inner_id = outer.operands[static_cast<std::size_t>(side)];
        const Node inner = dag.at(inner_id);
        if (!plain(dag, inner) || uses(dag, inner_id) != 1) continue;
        Dag trial = dag;
        const int other = outer.operands[static_cast<std::size_t>(1 - side)];
        // (a b) c = a (b c), and a (b c) = (a b) c.
        const int middle = trial.add(side == 0 ? product_of_two(trial, inner.operands[1], other)
                                               : product_of_two(trial, other, inner.operands[0]));
        const Node whole = side == 0 ? product_of_two(trial, inner.operands[0], middle)
                                     : product_of_two(trial, middle, inner.operands[1]);
        if (cost(trial, trial.at(middle)) + cost(trial, whole) >=
            0.9 * (cost(dag, inner) + cost(dag, outer)))
          continue;
        redirect(trial, static_cast<int>(i), trial.add(whole));
        dag = tidy(trial);
        changed = any = true;
      }
    }
    if (!changed) break;
  }
  return any;
}

bool transposed_product(Dag& dag) {
  return everywhere(dag, [&](int id) {
    const Node node = dag.at(id);
    if (!node.is<Permute>() || node.as<Permute>().dims != std::vector<int>{1, 0}) return false;
    const Node product = dag.at(node.operands[0]);
    if (!plain(dag, product) || uses(dag, node.operands[0]) != 1) return false;
    Builder build(dag);
    const int left = build.swap_last(product.operands[1]), right = build.swap_last(product.operands[0]);
    redirect(dag, id, dag.add(product_of_two(dag, left, right)));
    return true;
  });
}

}  // namespace cudal1::algebra
