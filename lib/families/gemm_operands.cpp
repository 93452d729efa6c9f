// SPDX-License-Identifier: Apache-2.0
#include "families/gemm_operands.hpp"

#include "cuda_code/terms.hpp"
#include "families/families.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace cudal1::families {

GemmOperands gemm_operands_of(const Region& region, const Dag& dag, const Buffers& buffers) {
  const auto node = [&](int id) -> const Node& { return dag.at(id); };
  const Node& product = node(region.producer);
  const std::size_t rank = product.shape.size();
  const auto factor = [&](int id) {
    GemmOperand result;
    const Node& operand = node(id);
    if (operand.dtype != tensor::Dtype::float32 && operand.dtype != tensor::Dtype::float64) throw NotCovered{"products are covered for float32 and float64 only"};
    int stored = id;
    if (buffers.count(id) == 0 && operand.is<Permute>()) {
      result.swapped = true;
      stored = operand.operands[0];
    }
    if (buffers.count(stored) == 0) stored = cast_from_half(dag, stored);
    result.buffer = buffers.at(stored);
    result.dtype = node(stored).dtype;
    const Batches batches = batches_of(product.shape, operand.shape);
    if (batches == Batches::some) throw NotCovered{"a product whose factors share some batch dimensions"};
    result.stride = batches == Batches::all ? times(operand.shape.end()[-2], operand.shape.back()) : literal(0, region.assignments);
    return result;
  };
  GemmOperands result;
  if (product.is<Convolution>()) {
    // Of the weights by the inputs of a sample.
    const auto [x, weights] = std::pair{product.operands[0], product.operands[1]};
    if (product.dtype != tensor::Dtype::float32) throw NotCovered{"convolutions are covered for float32 only"};
    result.n = region.space[1];
    result.m = region.space[2];
    result.depth = node(x).shape[1];
    result.batches = region.space[0];
    result.left = {buffers.at(weights), tensor::Dtype::float32, false, literal(0, region.assignments), {}};
    result.right = {buffers.at(x), tensor::Dtype::float32, false, times(result.depth, result.m), {}};
    return result;
  }
  result.left = factor(product.operands[0]);
  result.right = factor(product.operands[1]);
  result.left.triangle = product.as<Product>().left;
  result.right.triangle = product.as<Product>().right;
  result.n = product.shape[rank - 2];
  result.m = product.shape[rank - 1];
  result.depth = node(product.operands[0]).shape.back();
  result.batches = product_of(product.shape, 0, rank - 2, region.assignments);
  return result;
}

std::string GemmOperand::at_batch(const std::string& pointer, Arguments& arguments, const std::string& batch) const {
  return is_zero(stride) ? pointer : fmt::format("{} + size_t({}) * {}", pointer, batch, arguments.number(stride));
}

bool GemmOperands::many_batches() const { return *std::max_element(batches.values.begin(), batches.values.end()) > most_layers; }

std::string GemmOperands::whole(Arguments& arguments, int pack) const {
  cuda_code::Conditions aligned;
  for (const std::string& each : {arguments.number(left.swapped ? n : depth), arguments.number(right.swapped ? depth : m)})
    aligned.require(fmt::format("{} % {} == 0", each, pack));
  for (const GemmOperand* each : {&left, &right})
    if (!is_zero(each->stride)) aligned.require(fmt::format("{} % {} == 0", arguments.number(each->stride), pack));
  return aligned.text();
}

std::string GemmOperands::needed_depths(const std::string& all, const std::string& rows, const std::string& columns, const std::string& step) const {
  std::string begin = "0", end = all;
  const auto moved = [](const std::string& from, std::int64_t by) { return by == 0 ? from : fmt::format("{} {} {}", from, by < 0 ? '-' : '+', std::abs(by)); };
  const auto least = [&](const std::string& other) { begin = begin == "0" ? other : fmt::format("max({}, {})", begin, other); };
  const auto most = [&](const std::string& other) { end = fmt::format("min({}, {})", end, other); };
  if (left.triangle && left.triangle->lower) most(moved("row_start + " + rows, left.triangle->diagonal));
  if (left.triangle && !left.triangle->lower) least(moved("row_start", left.triangle->diagonal));
  if (right.triangle && right.triangle->lower) least(moved("column_start", -right.triangle->diagonal));
  if (right.triangle && !right.triangle->lower) most(moved("column_start + " + columns, -right.triangle->diagonal));
  if (!left.triangle && !right.triangle) return "";
  if (begin != "0") begin = fmt::format("max(0, {}) / {} * {}", begin, step, step);
  return fmt::format("  // The other depths meet zeros of a triangular factor.\n  const int begin = {}, end = {};\n", begin, end);
}

double GemmOperands::operations(const schedule::Machine& machine, std::int64_t parts) const {
  const std::int64_t tiles = (n.values[0] + 63) / 64 * ((m.values[0] + 63) / 64) * batches.values[0] * parts;
  const double needed = left.triangle && right.triangle ? 1.0 / 3 : left.triangle || right.triangle ? 0.5 : 1;
  return needed * 2.0 * static_cast<double>(batches.values[0]) * static_cast<double>(n.values[0]) *
         static_cast<double>(m.values[0]) * static_cast<double>(depth.values[0]) *
         std::max(1.0, machine.multiprocessors / static_cast<double>(tiles));
}

double GemmOperands::bytes() const {
  const auto rows = static_cast<double>(n.values[0]), columns = static_cast<double>(m.values[0]);
  return static_cast<double>(batches.values[0]) *
         ((doubles() ? 8.0 : 4.0) * rows * columns + static_cast<double>(tensor::size_of(left.dtype)) * static_cast<double>(depth.values[0]) * (rows + columns));
}

}  // namespace cudal1::families
