// SPDX-License-Identifier: Apache-2.0
#include "algebra/rule.hpp"

#include <optional>

namespace cudal1::algebra {
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
