// SPDX-License-Identifier: Apache-2.0
#include "families/arguments.hpp"
#include "families/costs.hpp"
#include "families/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

constexpr int tile = 128, slots = 5;  // queries or keys of a tile; keys and values under way

// Of the queries, keys or values, as they lie in memory.
std::string map_of(const std::string& buffer, const tensor::Extent& head, const tensor::Extent& length, const tensor::Extent& batches) {
  return fmt::format("tensor_map({}, axes({}, {}, {}), strides({}, {} * {}), box(64, {}, 1), swizzle(128))", buffer, head.text, length.text, batches.text, head.text,
                     in_parentheses(length.text), in_parentheses(head.text), tile);
}

}  // namespace

// The attention of 16-bit elements whose results have that type again: `id` is what they are converted by.
bool is_warpgroup_attention(int id, const Dag& dag, const KernelFile& file) {
  constexpr std::int64_t widest = 128, aligned_elements = 8;
  const Node& result = dag.at(id);
  if (!file.variant().warpgroups() || !file.variant().fused || !file.machine().warpgroup_products || !result.computes("identity") || tensor::size_of(result.dtype) != 2 ||
      !tensor::is_floating(result.dtype))
    return false;
  const Node& attention = dag.at(result.operands[0]);
  if (!attention.is<Attention>() || attention.shape.size() < 2) return false;
  const std::vector<std::int64_t>& heads = attention.shape.back().values;
  if (!std::all_of(heads.begin(), heads.end(), [](std::int64_t head) { return head <= widest && head % aligned_elements == 0; })) return false;
  return std::all_of(attention.operands.begin(), attention.operands.begin() + 3, [&](int operand) {
    const int from = cast_from_half(dag, operand);
    return from >= 0 && !dag.at(operand).is<Permute>() && dag.at(from).dtype == result.dtype;
  });
}

void write_warpgroup_attention(int id, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node &result = dag.at(id), &node = dag.at(result.operands[0]);
  const std::size_t rank = node.shape.size();
  const tensor::Extent length = node.shape[rank - 2], head = node.shape[rank - 1], batches = product_of(node.shape, 0, rank - 2, head.values.size());
  const int width = *std::max_element(head.values.begin(), head.values.end()) > 64 ? 128 : 64;
  const bool causal = node.as<Attention>().causal;
  const std::string name = file.unique("warpgroup_attention"), turns = file.tune("TURNS", {1, 0});
  Arguments arguments(file.scalars());
  std::vector<std::string> maps;
  for (const char* each : {"queries", "keys", "values"})
    maps.push_back(arguments.tensor_map(each, map_of(buffers.at(cast_from_half(dag, node.operands[maps.size()])), head, length, batches)));
  const std::string to = arguments.pointer(output, result.dtype, true), T = arguments.number(length), H = arguments.number(head);
  const bool given = node.operands.size() > 3;
  const std::string scale = given ? fmt::format("{} {}", node.as<Attention>().divides ? "/" : "*", arguments.number(dag.at(node.operands[3]))) : fmt::format("/ sqrtf(float({}))", H);
  const bool bfloat = result.dtype == tensor::Dtype::bfloat16;
  file.include(result.dtype);
  file.kernel("warpgroup_attention.cuh", {{"name", name}, {"parameters", arguments.parameters()}, {"queries", maps[0]}, {"keys", maps[1]}, {"values", maps[2]},
      {"head", width}, {"T", T}, {"H", H}, {"O", to}, {"first", causal ? "gridDim.x - 1 - blockIdx.x" : "blockIdx.x"}, {"last", causal ? fmt::format("min({}, start + {})", T, tile) : T},
      {"causal", causal}, {"positive", !given}, {"scale", scale}, {"multiply", bfloat ? "multiply_bf16" : "multiply_f16"}, {"packed", bfloat ? "bfloats" : "halves"}, {"turns", turns}, {"parts", file.variant().half() ? 1 : 2},
      {"low", bfloat ? "__uint_as_float(packed << 16)" : "__low2float(*reinterpret_cast<const __half2*>(&packed))"},
      {"high", bfloat ? "__uint_as_float(packed & 0xffff0000u)" : "__high2float(*reinterpret_cast<const __half2*>(&packed))"}});
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}), {}), 384, {}>>>({})", name, length.text, tile, batches.text, (slots + 1) * tile * width * 2 + 1024, arguments.passed()));
  const double t = static_cast<double>(length.values[0]), h = static_cast<double>(head.values[0]), b = static_cast<double>(batches.values[0]);
  const double blocks = b * static_cast<double>((length.values[0] + tile - 1) / tile);
  file.traffic(8 * b * t * h, costs::warpgroup_attention * (file.variant().half() ? 1 : 1.5) * (causal ? 2 : 4) * b * t * t * h * std::max(1.0, file.machine().multiprocessors / blocks));
  file.technique(Technique::online_softmax, fmt::format("`{}` normalises rows of scores while they pass, so the score matrix is never written.", name));
  file.technique(Technique::tensor_cores, fmt::format("Two warpgroups of `{}` multiply queries by keys and weights by values (wgmma); scores and weights stay in registers{}.", name,
                                                           file.variant().half() ? "" : ", the weights as the sum of two numbers of 16 bits"));
  file.technique(Technique::asynchronous_copy, "A warp of its own keeps a ring of keys and values in shared memory full, by tensor copies.");
  if (causal) file.technique(Technique::work_skipping, "Tiles above the diagonal are not visited; blocks with the most keys start first.");
  file.end_family();
}

}  // namespace cudal1::families
