// SPDX-License-Identifier: Apache-2.0
#include "playbook/arguments.hpp"
#include "playbook/families.hpp"
#include "playbook/tensor_tiles.hpp"

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
{range}  const float scale = {scale};  // of scores in powers of two
  for (int i = threadIdx.x; i < {queries} * HEAD; i += 256) {{
    const int row = i / HEAD, h = i % HEAD;
    q[row][h] = start + row < {T} && h < {H} ? {Q}[matrix + size_t(start + row) * {H} + h] * scale : 0.0f;
  }}
  float result[R][C] = {{}}, largest[R], total[R];
#pragma unroll
  for (int r = 0; r < R; ++r) largest[r] = -1e30f, total[r] = 0;
  for (int first = begin; first < end; first += KEYS) {{
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
      const float shrink = exp2f(largest[r] - most);
      const float p0 = exp2f(score[r][0] - most), p1 = exp2f(score[r][1] - most);
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
    if (row >= {T}) break;
{row_store}#pragma unroll
    for (int c = 0; c < C; ++c) {{
      const int h = tx + 16 * c;
      if (h < {H}) {store}
    }}
  }}
}}
)";

// Each warp keeps its queries' scores and results in the layout of the tensor cores' accumulators. A sum over keys may take
// them in any order, so the scores of keys 2t and 2t + 1 serve as the columns t and t + 4 of the second product's left
// factor without leaving their lane.
constexpr std::string_view tensor_code = R"(__global__ void __launch_bounds__({queries} * 2) {name}({parameters}) {{
  // Sixteen queries of a warp by 32 keys at a time; the next keys and values are on their way meanwhile.
  constexpr int HEAD = {head}, KEYS = 32, LINE = HEAD + 4;
  extern __shared__ __align__(16) float tiles[];
  const int lane = threadIdx.x % 32;
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * {queries}, first_row = start + threadIdx.x / 32 * 16 + lane / 4;
  const size_t matrix = size_t(blockIdx.y) * {T} * {H};
{range}  const float scale = {scale};  // of scores in powers of two
  float q[HEAD / 8][4];
#pragma unroll
  for (int k = 0; k < HEAD / 8; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i) {{
      const int row = first_row + i % 2 * 8, h = k * 8 + lane % 4 + i / 2 * 4;
      q[k][i] = row < {T} && h < {H} ? {Q}[matrix + size_t(row) * {H} + h] * scale : 0.0f;
    }}
  const auto copy = [&](float* to, int first) {{
    if (first < end)
      for (int i = threadIdx.x; i < KEYS * HEAD / 4; i += {queries} * 2) {{
        const int key = i / (HEAD / 4), h = i % (HEAD / 4) * 4;
        const size_t from = matrix + size_t(first + key) * {H} + h;
        float* k = to + key * LINE + h;
        if ({H} % 4 == 0) {{
          const bool inside = first + key < {T} && h < {H};
          copy_async<16>(k, inside ? {K} + from : {K}, inside);
          copy_async<16>(k + KEYS * LINE, inside ? {V} + from : {V}, inside);
        }} else {{
#pragma unroll
          for (int j = 0; j < 4; ++j) {{
            const bool inside = first + key < {T} && h + j < {H};
            copy_async<4>(k + j, inside ? {K} + from + j : {K}, inside);
            copy_async<4>(k + KEYS * LINE + j, inside ? {V} + from + j : {V}, inside);
          }}
        }}
      }}
    asm volatile("cp.async.commit_group;");
  }};
  float result[HEAD / 8][4] = {{}}, largest[2] = {{-1e30f, -1e30f}}, total[2] = {{}};
  copy(tiles, begin);
  int stage = 0;
  for (int first = begin; first < end; first += KEYS) {{
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    copy(tiles + (1 - stage) * 2 * KEYS * LINE, first + KEYS);
    const float *k_tile = tiles + stage * 2 * KEYS * LINE, *v_tile = k_tile + KEYS * LINE;
    stage = 1 - stage;
    float score[KEYS / 8][4] = {{}};
#pragma unroll
    for (int k = 0; k < HEAD / 8; ++k) {{
      unsigned high[4], low[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) halves(q[k][i], high[i], low[i]);
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) {{
        const float* at = k_tile + (j * 8 + lane / 4) * LINE + k * 8 + lane % 4;
        float part[4] = {{}};
        multiply_add_halves(part, high, low, at[0], at[4]);
#pragma unroll
        for (int i = 0; i < 4; ++i) score[j][i] += part[i];
      }}
    }}
    unsigned p_high[KEYS / 8][4], p_low[KEYS / 8][4];
    float shrink[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {{
      float most = largest[r];
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {{
          const int key = first + j * 8 + lane % 4 * 2 + i % 2;
          if (key >= {T}{masked}) score[j][i] = -1e30f;
          most = fmaxf(most, score[j][i]);
        }}
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      shrink[r] = exp2f(largest[r] - most);
      largest[r] = most;
      total[r] *= shrink[r];
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {{
          const float p = exp2f(score[j][2 * r + i] - most);
          total[r] += p;
          halves(p, p_high[j][r + 2 * i], p_low[j][r + 2 * i]);
        }}
    }}
#pragma unroll
    for (int n = 0; n < HEAD / 8; ++n) {{
      float part[4] = {{}};
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) {{
        const float* at = v_tile + (j * 8 + lane % 4 * 2) * LINE + n * 8 + lane / 4;
        multiply_add_halves(part, p_high[j], p_low[j], at[0], at[LINE]);
      }}
#pragma unroll
      for (int i = 0; i < 4; ++i) result[n][i] = result[n][i] * shrink[i / 2] + part[i];
    }}
  }}
#pragma unroll
  for (int r = 0; r < 2; ++r) {{
    const int row = first_row + r * 8;
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
    total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
    if (row >= {T}) continue;
{row_store}#pragma unroll
    for (int c = 0; c < HEAD / 4; ++c) {{
      const int h = c / 2 * 8 + lane % 4 * 2 + c % 2;
      if (h < {H}) {store}
    }}
  }}
}}
)";

// Adds up the parts of every row, each with its own largest score.
constexpr std::string_view total_code = R"(__global__ void __launch_bounds__(256) {name}({parameters}) {{
  const size_t rows = {rows}, at = size_t(blockIdx.x) * 256 + threadIdx.x, row = at / {H};
  if (row >= rows) return;
  const int parts = {parts};
  float most = -1e30f, sum = 0, total = 0;
  for (int part = 0; part < parts; ++part) most = fmaxf(most, {R}[(part * rows + row) * 2]);
#pragma unroll 4
  for (int part = 0; part < parts; ++part) {{
    const float weight = exp2f({R}[(part * rows + row) * 2] - most);
    total += weight * {R}[(part * rows + row) * 2 + 1];
    sum += weight * {S}[part * rows * {H} + at];
  }}
  {O}[at] = sum / total;
}}
)";

}  // namespace

// Bound by arithmetic: the score matrix never exists; its rows are normalised as they pass (online softmax). Where the
// queries are too few for a large GPU, blocks share them by their keys.
void write_attention(int id, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.nodes[static_cast<std::size_t>(id)];
  const std::size_t rank = node.shape.size();
  const tensor::Extent length = node.shape[rank - 2], head = node.shape[rank - 1];
  const std::int64_t widest = *std::max_element(head.values.begin(), head.values.end());
  const std::int64_t padded = (widest + 15) / 16 * 16;
  if (padded > 128) throw NotCovered{"attention with heads wider than 128"};
  const tensor::Extent batches = product_of(node.shape, 0, rank - 2, head.values.size());
  const bool tensor_cores = file.style().tensor && node.dtype == tensor::Dtype::float32;
  std::vector<std::int64_t> queries;
  for (std::int64_t rows : tensor_cores ? std::vector<std::int64_t>{64, 32, 128} : std::vector<std::int64_t>{32, 64, 16}) {
    const std::int64_t bytes = 4 * ((rows + 64) * (padded + 4) + rows * 33);
    if (tensor_cores || bytes <= 48 * 1024) queries.push_back(rows);
  }
  const std::int64_t blocks = (length.values[0] + queries[0] - 1) / queries[0] * batches.values[0];
  const bool split = file.style().split && blocks < 264 && length.values[0] >= 512;
  if (split && queries.size() > 2) queries.resize(2);
  const std::string name = file.unique(tensor_cores ? "tensor_attention" : "attention");
  const std::string rows = file.tune("QUERIES", queries);
  const std::string part = split ? file.tune("PART", {256, 128, 512}) : "";
  const std::string parts = fmt::format("ceil_div({}, {})", length.text, part);

  Arguments arguments(file.scalars()), sums(file.scalars());
  const std::string q = arguments.pointer(buffers.at(node.operands[0]), node.dtype, false),
                    k = arguments.pointer(buffers.at(node.operands[1]), node.dtype, false),
                    v = arguments.pointer(buffers.at(node.operands[2]), node.dtype, false);
  const std::string T = arguments.number(length), H = arguments.number(head);
  const bool causal = std::get<bool>(node.attributes.at("is_causal"));
  const std::string last = causal ? fmt::format("min({}, start + {})", T, rows) : T;
  const std::string result = tensor_cores ? "result[c / 2][r * 2 + c % 2]" : "result[r][c]";
  std::string range = fmt::format("  const int begin = 0, end = {};\n", last), row_store, store, partial, totals;
  if (split) {
    range = fmt::format("  const int begin = blockIdx.z * {0}, end = min({1}, begin + {0});\n  if (begin >= end) return;\n",
                        part, last);
    tensor::Extent count = literal(2, batches.values.size());
    partial = file.unique("S");
    file.scratch(partial, "float32", {{parts, {}}, batches, length, head});
    totals = file.unique("S");
    file.scratch(totals, "float32", {{parts, {}}, batches, length, count});
    const std::string to = arguments.pointer(partial, tensor::Dtype::float32, true),
                      beside = arguments.pointer(totals, tensor::Dtype::float32, true);
    row_store = fmt::format(
        "    const size_t line = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * {} + row;\n"
        "    if ({} == 0) {}[line * 2] = largest[r], {}[line * 2 + 1] = total[r];\n",
        T, tensor_cores ? "lane % 4" : "tx", beside, beside);
    store = fmt::format("{}[line * {} + h] = {};", to, H, result);
  } else {
    store = fmt::format("{}[matrix + size_t(row) * {} + h] = {} / total[r];",
                        arguments.pointer(output, node.dtype, true), H, result);
  }
  const auto scale = node.attributes.find("scale");
  file.code(fmt::format(
      fmt::runtime(tensor_cores ? tensor_code : code), fmt::arg("name", name),
      fmt::arg("parameters", arguments.parameters()), fmt::arg("head", padded), fmt::arg("queries", rows),
      fmt::arg("T", T), fmt::arg("H", H), fmt::arg("Q", q), fmt::arg("K", k), fmt::arg("V", v),
      fmt::arg("scale", scale == node.attributes.end()
                            ? fmt::format("1.44269504f / sqrtf(float({}))", H)
                            : fmt::format("{:.9g}f", std::get<double>(scale->second) * 1.4426950408889634)),
      fmt::arg("range", range), fmt::arg("row_store", row_store), fmt::arg("store", store),
      fmt::arg("masked", causal ? " || key > first_row + r * 8" : ""),
      fmt::arg("masked0", causal ? " || first + tx > row" : ""),
      fmt::arg("masked1", causal ? " || first + tx + 16 > row" : "")));
  std::string grid = fmt::format("dim3(ceil_div({}, {})", length.text, rows);
  if (split) grid += fmt::format(", {}, {}", batches.text, parts);
  else if (!is_one(batches)) grid += ", " + batches.text;
  file.launch(tensor_cores ? fmt::format("{}<<<{}), {} * 2, {}>>>({})", name, grid, rows, 4 * 32 * (padded + 4) * 4,
                                         arguments.passed())
                           : fmt::format("{}<<<{}), 256>>>({})", name, grid, arguments.passed()));
  const double t = static_cast<double>(length.values[0]), h = static_cast<double>(head.values[0]),
               b = static_cast<double>(batches.values[0]);
  const double idle = split ? 1 : std::max(1.0, 132.0 / static_cast<double>(blocks));
  file.traffic(16 * b * t * h, (!tensor_cores ? 1 : file.style().exact ? 0.5 : 0.3) * (causal ? 2 : 4) * b * t * t * h * idle);
  if (split) {
    const std::string kernel = file.unique(name + "_total");
    const std::string from = sums.pointer(partial, tensor::Dtype::float32, false),
                      beside = sums.pointer(totals, tensor::Dtype::float32, false),
                      to = sums.pointer(output, node.dtype, true);
    const std::string length_of = sums.number(length), head_of = sums.number(head);
    file.code(fmt::format(
        fmt::runtime(total_code), fmt::arg("name", kernel), fmt::arg("H", head_of), fmt::arg("R", beside),
        fmt::arg("S", from), fmt::arg("O", to), fmt::arg("rows", sums.number(times(batches, length))),
        fmt::arg("parts", causal ? fmt::format("int(row % {}) / {} + 1", length_of, part)
                                 : fmt::format("({0} + {1} - 1) / {1}", length_of, part)),
        fmt::arg("parameters", sums.parameters())));
    file.launch(fmt::format("{}<<<ceil_div({}, 256), 256>>>({})", kernel,
                            times(times(batches, length), head).text, sums.passed()));
    file.traffic(4 * b * t * h * (2 + t / 256 * (causal ? 0.5 : 1)), 0);
    file.technique(Technique::split_reduction,
                   fmt::format("Too few queries for a large GPU: blocks of `{}` take {} keys each, `{}` adds them up.",
                               name, part, kernel));
  }
  file.technique(
      Technique::online_softmax,
      fmt::format("`{}` normalises rows of scores while they pass, so the score matrix is never written.", name));
  file.technique(Technique::shared_memory_tiling,
                 "Keys and values go through shared memory in tiles of 32 that all queries of a block share.");
  if (tensor_cores) {
    use_tensor_cores(file, name, "queries, keys, weights and values");
    file.technique(Technique::asynchronous_copy, "The next keys are on their way to shared memory while the present ones are used.");
  }
  if (causal)
    file.technique(Technique::work_skipping, "Tiles above the diagonal are not visited; blocks with the most keys start first.");
  file.end_family();
}

}  // namespace cudal1::playbook
