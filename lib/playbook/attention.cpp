// SPDX-License-Identifier: Apache-2.0
#include "playbook/arguments.hpp"
#include "playbook/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

constexpr std::string_view code = R"(__global__ void __launch_bounds__(256) {name}({parameters}) {{
  // Queries of a block by 32 keys at a time; 16x16 threads hold R rows of scores and of the result each.
  constexpr int HEAD = {head}, KEYS = 32, R = {queries} / 16, C = HEAD / 16;
  __shared__ __align__(16) float q[{queries}][HEAD + 4], k[KEYS][HEAD + 4], v[KEYS][HEAD + 4], p[{queries}][KEYS + 1];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * {queries};
  const size_t matrix = size_t(blockIdx.y) * {T} * {H};
  const float scale = {scale};
  for (int i = threadIdx.x; i < {queries} * HEAD; i += 256) {{
    const int row = i / HEAD, h = i % HEAD;
    q[row][h] = start + row < {T} && h < {H} ? {Q}[matrix + size_t(start + row) * {H} + h] * scale : 0.0f;
  }}
  float result[R][C] = {{}}, largest[R], total[R];
#pragma unroll
  for (int r = 0; r < R; ++r) largest[r] = -1e30f, total[r] = 0;
  const int end = {end};
  for (int first = 0; first < end; first += KEYS) {{
    __syncthreads();
    for (int i = threadIdx.x; i < KEYS * HEAD; i += 256) {{
      const int row = i / HEAD, h = i % HEAD;
      const bool there = first + row < {T} && h < {H};
      k[row][h] = there ? {K}[matrix + size_t(first + row) * {H} + h] : 0.0f;
      v[row][h] = there ? {V}[matrix + size_t(first + row) * {H} + h] : 0.0f;
    }}
    __syncthreads();
    float score[R][2] = {{}};
#pragma unroll
    for (int h = 0; h < HEAD; h += 4) {{
      const float4 k0 = *reinterpret_cast<const float4*>(&k[tx][h]), k1 = *reinterpret_cast<const float4*>(&k[tx + 16][h]);
#pragma unroll
      for (int r = 0; r < R; ++r) {{
        const float4 at = *reinterpret_cast<const float4*>(&q[ty * R + r][h]);
        score[r][0] += at.x * k0.x + at.y * k0.y + at.z * k0.z + at.w * k0.w;
        score[r][1] += at.x * k1.x + at.y * k1.y + at.z * k1.z + at.w * k1.w;
      }}
    }}
#pragma unroll
    for (int r = 0; r < R; ++r) {{
      const int row = start + ty * R + r;
      if (first + tx >= {T}{masked0}) score[r][0] = -1e30f;
      if (first + tx + 16 >= {T}{masked1}) score[r][1] = -1e30f;
      float most = fmaxf(score[r][0], score[r][1]);
#pragma unroll
      for (int offset = 8; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
      most = fmaxf(most, largest[r]);
      const float shrink = expf(largest[r] - most);
      const float p0 = expf(score[r][0] - most), p1 = expf(score[r][1] - most);
      p[ty * R + r][tx] = p0;
      p[ty * R + r][tx + 16] = p1;
      float sum = p0 + p1;
#pragma unroll
      for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      total[r] = total[r] * shrink + sum;
      largest[r] = most;
#pragma unroll
      for (int c = 0; c < C; ++c) result[r][c] *= shrink;
    }}
    __syncwarp();
#pragma unroll 8
    for (int key = 0; key < KEYS; ++key) {{
      float value[C];
#pragma unroll
      for (int c = 0; c < C; ++c) value[c] = v[key][tx + 16 * c];
#pragma unroll
      for (int r = 0; r < R; ++r) {{
        const float weight = p[ty * R + r][key];
#pragma unroll
        for (int c = 0; c < C; ++c) result[r][c] += weight * value[c];
      }}
    }}
  }}
#pragma unroll
  for (int r = 0; r < R; ++r) {{
    const int row = start + ty * R + r;
#pragma unroll
    for (int c = 0; c < C; ++c)
      if (row < {T} && tx + 16 * c < {H}) {O}[matrix + size_t(row) * {H} + tx + 16 * c] = result[r][c] / total[r];
  }}
}}
)";

}  // namespace

// Bound by arithmetic in fp32: the score matrix never exists; its rows are normalised as they pass (online softmax).
void write_attention(int id, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.nodes[static_cast<std::size_t>(id)];
  const std::size_t rank = node.shape.size();
  const tensor::Extent length = node.shape[rank - 2], head = node.shape[rank - 1];
  const std::int64_t widest = *std::max_element(head.values.begin(), head.values.end());
  const std::int64_t padded = (widest + 15) / 16 * 16;
  if (padded > 128) throw NotCovered{"attention with heads wider than 128"};
  const tensor::Extent batches = product_of(node.shape, 0, rank - 2, head.values.size());
  std::vector<std::int64_t> queries;
  for (std::int64_t rows : {32, 16, 64}) {
    const std::int64_t bytes = 4 * ((rows + 64) * (padded + 4) + rows * 33);
    if (bytes <= 48 * 1024) queries.push_back(rows);
  }
  const std::string name = file.unique("attention");
  const std::string rows = file.tune("QUERIES", queries);
  Arguments arguments(file.scalars());
  const std::string q = arguments.pointer(buffers.at(node.operands[0]), node.dtype, false),
                    k = arguments.pointer(buffers.at(node.operands[1]), node.dtype, false),
                    v = arguments.pointer(buffers.at(node.operands[2]), node.dtype, false),
                    o = arguments.pointer(output, node.dtype, true);
  const std::string T = arguments.number(length), H = arguments.number(head);
  const bool causal = std::get<bool>(node.attributes.at("is_causal"));
  const auto scale = node.attributes.find("scale");
  file.code(fmt::format(
      fmt::runtime(code), fmt::arg("name", name), fmt::arg("parameters", arguments.parameters()),
      fmt::arg("head", padded), fmt::arg("queries", rows), fmt::arg("T", T), fmt::arg("H", H), fmt::arg("Q", q),
      fmt::arg("K", k), fmt::arg("V", v), fmt::arg("O", o),
      fmt::arg("scale", scale == node.attributes.end() ? fmt::format("1 / sqrtf(float({}))", H)
                                                       : fmt::format("{:.9g}f * 1", std::get<double>(scale->second))),
      fmt::arg("end", causal ? fmt::format("start + {0} < {1} ? start + {0} : {1}", rows, T) : T),
      fmt::arg("masked0", causal ? " || first + tx > row" : ""),
      fmt::arg("masked1", causal ? " || first + tx + 16 > row" : "")));
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}){}), 256>>>({})", name, length.text, rows,
                          is_one(batches) ? "" : ", " + batches.text, arguments.passed()));
  const double t = static_cast<double>(length.values[0]), h = static_cast<double>(head.values[0]),
               b = static_cast<double>(batches.values[0]);
  file.traffic(16 * b * t * h, (causal ? 2 : 4) * b * t * t * h);
  file.technique(
      "online softmax",
      fmt::format("`{}` normalises rows of scores while they pass, so the score matrix is never written.", name));
  file.technique("tiling",
                 "Keys and values go through shared memory in tiles of 32 that all queries of a block share.");
  if (causal)
    file.technique("work skipping", "Tiles above the diagonal are not visited; blocks with the most keys start first.");
  file.end_family();
}

}  // namespace cudal1::playbook
