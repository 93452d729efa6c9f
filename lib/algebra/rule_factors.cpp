// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <algorithm>
#include <set>

namespace cudal1::algebra {
namespace {

// What a diagonal matrix multiplies by: a vector [1, n], or one number where it is a multiple of the identity; -1 for any other node.
int diagonal_of(const Builder& build, int id) {
  if (build.at(id).is<Permute>()) id = build.at(id).operands[0];  // its own transpose
  const Node& node = build.at(id);
  for (std::size_t side = 0; node.computes("mul") && side < 2; ++side) {
    const int of = diagonal_of(build, node.operands[side]), number = node.operands[1 - side];
    const tensor::Shape& shape = build.at(number).shape;
    if (of >= 0 && build.literal_value(of) == 1.0 && std::all_of(shape.begin(), shape.end(), tensor::is_one)) return number;
  }
  const auto found = selection(build, id);
  if (!found || found->function != "eq" || node.shape.size() != 2 || !build.at(found->left).is<Coordinate>() || !build.at(found->right).is<Coordinate>()) return -1;
  const tensor::Shape& row = build.at(found->kept).shape;
  const bool vector = row.size() == 2 && is_one(row[0]) && !is_one(row[1]), one = build.literal_value(found->kept) == 1.0 && node.shape[0] == node.shape[1];
  return vector || one ? found->kept : -1;
}

}  // namespace

bool diagonal(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int id) {
    const Node product = dag.at(id);
    if (!product.is<Product>()) return false;
    for (const std::size_t side : {0U, 1U}) {
      int by = diagonal_of(build, product.operands[side]), other = product.operands[1 - side];
      if (by < 0) continue;
      const tensor::Shape row = dag.at(by).shape;
      const bool vector = row.size() == 2 && !is_one(row[1]);
      if (!vector && !(dag.at(other).shape == product.shape)) continue;
      if (vector && side == 0) by = build.reshape(by, {row[1], row[0]});
      if (vector) other = dag.add({Pointwise{"mul"}, side == 0 ? std::vector<int>{by, other} : std::vector<int>{other, by}, product.dtype, product.shape});
      else if (build.literal_value(by) != 1.0) other = build.pointwise("mul", {other, by});
      redirect(dag, id, other);
      return true;
    }
    return false;
  });
}

namespace {

// The classes that a one-hot matrix [n, k] names, as [n, 1]; -1 for any other node.
int classes_of(const Builder& build, int id) {
  while (build.at(id).computes("identity") && build.at(build.at(id).operands[0]).shape == build.at(id).shape)
    id = build.at(id).operands[0];  // a cast
  const auto found = selection(build, id);
  if (!found || found->function != "eq" || build.at(id).shape.size() != 2 || build.literal_value(found->kept) != 1.0) return -1;
  const Node &column = build.at(found->left), &named = build.at(found->right);
  const bool along = column.is<Coordinate>() && column.shape.size() == 2 && is_one(column.shape[0]);
  const bool rows = named.shape.size() == 2 && is_one(named.shape[1]) && !named.is<Coordinate>() && !tensor::is_floating(named.dtype);
  return along && rows ? found->right : -1;
}

}  // namespace

bool one_hot(Dag& dag) {
  Builder build(dag);
  return everywhere(dag, [&](int id) {
    const Node product = dag.at(id);
    if (!product.is<Product>() || product.shape.size() != 2) return false;
    for (const std::size_t side : {0U, 1U}) {
      const int factor = product.operands[side];
      const bool turned = build.at(factor).is<Permute>();  // of a matrix: its transpose
      if (turned != (side == 1)) continue;
      int classes = classes_of(build, turned ? build.at(factor).operands[0] : factor);
      if (classes < 0) continue;
      while (build.at(classes).is<Reshape>()) classes = build.at(classes).operands[0];
      redirect(dag, id, build.add({Gather{side == 0}, {product.operands[1 - side], classes}, product.dtype, product.shape}));
      return true;
    }
    return false;
  });
}

namespace {

bool swaps(const Node& node) { return node.is<Permute>() && node.as<Permute>().swaps_last(); }

// Whether b is a with its last two dimensions swapped, by how both are made.
bool turned(const Dag& dag, int a, int b, int depth = 0) {
  const Node &x = dag.at(a), &y = dag.at(b);
  if (depth > 16) return false;
  if ((swaps(x) && x.operands[0] == b) || (swaps(y) && y.operands[0] == a)) return true;
  if (x.is<Number>()) return a == b;
  if (x.operation.index() != y.operation.index() || x.function() != y.function() || x.shape.size() != y.shape.size() || x.shape.size() < 2) return false;
  const std::size_t rank = x.shape.size();
  if (!(x.shape[rank - 1] == y.shape[rank - 2]) || !(x.shape[rank - 2] == y.shape[rank - 1])) return false;
  const auto pair = [&](std::size_t i, std::size_t k) { return turned(dag, x.operands[i], y.operands[k], depth + 1); };
  if (x.is<Coordinate>()) return is_one(x.shape[rank - 1]) != is_one(x.shape[rank - 2]);
  if (x.is<Product>()) return pair(0, 1) && pair(1, 0);
  if (!x.is<Pointwise>() || x.operands.size() != y.operands.size()) return false;
  bool same = true;
  for (std::size_t i = 0; i < x.operands.size(); ++i) same = same && pair(i, i);
  static const std::set<std::string> commutative = {"add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or"};
  return same || (commutative.count(x.function()) != 0 && pair(0, 1) && pair(1, 0));
}

}  // namespace

bool symmetric(Dag& dag) {
  return everywhere(dag, [&](int id) {
    if (!swaps(dag.at(id)) || !turned(dag, dag.at(id).operands[0], dag.at(id).operands[0])) return false;
    redirect(dag, id, dag.at(id).operands[0]);
    return true;
  });
}

namespace {

struct Mask {
  bool lower;
  double diagonal;  // column - row at the border, which is kept
};

// As lowering spells tril and triu.
std::optional<Mask> mask_of(const Builder& build, int id) {
  const auto found = selection(build, id);
  if (!found || (found->function != "le" && found->function != "ge")) return std::nullopt;
  const Node& distance = build.at(found->left);
  const auto diagonal = build.literal_value(found->right);
  if (!distance.computes("sub") || !diagonal) return std::nullopt;
  const Node &column = build.at(distance.operands[0]), &row = build.at(distance.operands[1]);
  const std::size_t rank = build.at(id).shape.size();
  if (rank < 2 || !column.is<Coordinate>() || !row.is<Coordinate>() || column.shape.size() != rank ||
      row.shape.size() != rank || !is_one(column.shape[rank - 2]) || !is_one(row.shape[rank - 1]))
    return std::nullopt;
  return Mask{found->function == "le", *diagonal};
}

// Whether a node is zero above (lower) or below its main diagonal, by how it is made.
bool is_triangle(const Builder& build, int id, bool lower, int depth = 0) {
  const Node& node = build.at(id);
  if (depth > 16) return false;
  if (const auto mask = mask_of(build, id))
    return mask->lower == lower && (lower ? mask->diagonal <= 0 : mask->diagonal >= 0);
  if (!node.is<Product>()) return false;
  return is_triangle(build, node.operands[0], lower, depth + 1) && is_triangle(build, node.operands[1], lower, depth + 1);
}

// The triangle that a factor is, by how it is made; nothing where no plain number says where it ends.
std::optional<Mask> triangle_of(const Builder& build, int id) {
  const Node& node = build.at(id);
  if (const auto mask = mask_of(build, id)) return mask;
  if (node.is<Permute>() && node.as<Permute>().swaps_last()) {
    const auto turned = triangle_of(build, node.operands[0]);
    if (turned) return Mask{!turned->lower, -turned->diagonal};
  }
  for (const bool lower : {true, false})
    if (is_triangle(build, id, lower)) return Mask{lower, 0};
  return std::nullopt;
}

}  // namespace

bool triangular(Dag& dag) {
  const Builder build(dag);
  const bool masks = everywhere(dag, [&](int id) {
    const auto mask = mask_of(build, id);
    if (!mask || (mask->lower ? mask->diagonal < 0 : mask->diagonal > 0)) return false;
    const int kept = dag.at(id).operands[1];
    if (!is_triangle(build, kept, mask->lower) || !(build.at(kept).shape == dag.at(id).shape)) return false;
    redirect(dag, id, kept);
    return true;
  });
  const bool factors = everywhere(dag, [&](int id) {
    if (!dag.at(id).is<Product>()) return false;
    auto& product = std::get<Product>(dag.at(id).operation);
    for (std::size_t side = 0; side < 2; ++side)
      if (const auto found = triangle_of(build, dag.at(id).operands[side]))
        (side == 0 ? product.left : product.right) = Triangle{found->lower, static_cast<std::int64_t>(found->diagonal)};
    return product.left || product.right;
  });
  return masks || factors;
}

}  // namespace cudal1::algebra
