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
      if (h < {H}) to[h] = result[r][c]{by};
    }}
  }}
}}
)";

// Each warp keeps its queries' scores and results in the layout of the tensor cores' accumulators. A sum over keys may take
// them in any order, so the scores of keys 2t and 2t + 1 serve as the columns t and t + 4 of the second product's left
// factor without leaving their lane. Nor does the order of the result's columns matter: two neighbouring tiles of eight take
// the even and the odd ones of sixteen, so that a lane reads both tiles' values at once and writes four neighbours.
constexpr std::string_view tensor_code = R"(__global__ void __launch_bounds__({queries} / {own} * 32, {resident} / {queries}) {name}({parameters}) {{
  // {own} queries of a warp by 32 keys at a time; the next keys and values are on their way meanwhile.
  constexpr int HEAD = {head}, KEYS = 32, LINE = HEAD + 4, TILES = {own} / 16, THREADS = {queries} / {own} * 32;
  extern __shared__ __align__(16) float tiles[];
  float* q_tile = tiles + 4 * KEYS * LINE;  // high halves, then low ones
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * {own};
  // The last queries have the most keys: they go first.
  const int start = int(gridDim.x - 1 - blockIdx.x) * {queries}, first_row = start + warp_row + lane / 4;
  const size_t matrix = size_t(blockIdx.y) * {T} * {H};
{range}  const float scale = {scale};  // of differences of scores, which are small where they matter, in powers of two
  const auto copy = [&](float* to, const float* from, int first, int rows) {{
#pragma unroll
    for (int i = threadIdx.x; i < rows * HEAD / 4; i += THREADS) {{
      const int row = i / (HEAD / 4), h = i % (HEAD / 4) * 4;
      const float* at = from + matrix + size_t(first + row) * {H} + h;
      if ({H} % 4 == 0) {{
        const bool inside = first + row < {T} && h < {H};
        copy_async<16>(to + row * LINE + h, inside ? at : from, inside);
      }} else {{
#pragma unroll
        for (int j = 0; j < 4; ++j) {{
          const bool inside = first + row < {T} && h + j < {H};
          copy_async<4>(to + row * LINE + h + j, inside ? at + j : from, inside);
        }}
      }}
    }}
  }};
  const auto copy_keys = [&](float* to, int first) {{
    if (first < end) {{
      copy(to, {K}, first, KEYS);
      copy(to + KEYS * LINE, {V}, first, KEYS);
    }}
    asm volatile("cp.async.commit_group;");
  }};
  copy(q_tile, {Q}, start, {queries});
  copy_keys(tiles, begin);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  // Every thread cuts the queries that it has copied.
#pragma unroll
  for (int i = threadIdx.x; i < {queries} * HEAD / 4; i += THREADS) {{
    float* at = q_tile + i / (HEAD / 4) * LINE + i % (HEAD / 4) * 4;
#pragma unroll
    for (int j = 0; j < 4; ++j) {{
      unsigned high, low;
      halves(at[j], high, low);
      at[j] = __uint_as_float(high);
      if (EXACT) at[{queries} * LINE + j] = __uint_as_float(low);
    }}
  }}
  float result[TILES][HEAD / 8][4] = {{}}, largest[TILES][2], total[TILES][2] = {{}};
#pragma unroll
  for (int m = 0; m < TILES; ++m) largest[m][0] = largest[m][1] = -1e30f;
  int stage = 0;
  for (int first = begin; first < end; first += KEYS) {{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    copy_keys(tiles + (1 - stage) * 2 * KEYS * LINE, first + KEYS);
    const float *k_tile = tiles + stage * 2 * KEYS * LINE, *v_tile = k_tile + KEYS * LINE;
    stage = 1 - stage;
{needed}    // The tensor cores cut what they add up rather than round it: so they sum over sixteen depths only, small terms first.
    float score[TILES][KEYS / 8][4] = {{}};
#pragma unroll (TILES == 1 ? 2 : 1)
    for (int k = 0; k < HEAD; k += 16) {{
      unsigned q_high[TILES][2][4], q_low[TILES][2][4];
#pragma unroll
      for (int m = 0; m < TILES; ++m)
#pragma unroll
        for (int d = 0; d < 2; ++d) {{
          const float* at = q_tile + (warp_row + m * 16 + lane % 16) * LINE + k + d * 8 + lane / 16 * 4;
          load_matrices(at, q_high[m][d]);
          if (EXACT) load_matrices(at + {queries} * LINE, q_low[m][d]);
        }}
#pragma unroll
      for (int j = 0; j < KEYS / 8; j += 2) {{
        unsigned k_high[2][4], k_low[2][4];
#pragma unroll
        for (int n = 0; n < 2; ++n) {{
          unsigned held[4];
          load_matrices(k_tile + ((j + n) * 8 + lane % 8) * LINE + k + lane / 8 * 4, held);
#pragma unroll
          for (int i = 0; i < 4; ++i) halves(__uint_as_float(held[i]), k_high[n][i], k_low[n][i]);
        }}
        float part[TILES][2][4] = {{}};
#pragma unroll
        for (int d = 0; EXACT && d < 2; ++d) {{
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], q_low[at / 2][d], k_high[at % 2][2 * d], k_high[at % 2][2 * d + 1]);
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], q_high[at / 2][d], k_low[at % 2][2 * d], k_low[at % 2][2 * d + 1]);
        }}
#pragma unroll
        for (int d = 0; d < 2; ++d)
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], q_high[at / 2][d], k_high[at % 2][2 * d], k_high[at % 2][2 * d + 1]);
#pragma unroll
        for (int at = 0; at < TILES * 2; ++at)
#pragma unroll
          for (int i = 0; i < 4; ++i) score[at / 2][j + at % 2][i] += part[at / 2][at % 2][i];
      }}
    }}
    if (first + KEYS > {T}{may_mask}) {{
#pragma unroll
      for (int m = 0; m < TILES; ++m)
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i) {{
            const int key = first + j * 8 + lane % 4 * 2 + i % 2;
            if (key >= {T}{masked}) score[m][j][i] = -1e30f;
          }}
    }}
    unsigned p_high[TILES][KEYS / 8][4], p_low[TILES][KEYS / 8][4];
    float shrink[TILES][2];
#pragma unroll
    for (int m = 0; m < TILES; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r) {{
        float most = largest[m][r];
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j) most = fmaxf(most, fmaxf(score[m][j][2 * r], score[m][j][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
        shrink[m][r] = power_of_two((largest[m][r] - most) * scale);
        largest[m][r] = most;
        total[m][r] *= shrink[m][r];
#pragma unroll
        for (int j = 0; j < KEYS / 8; ++j)
#pragma unroll
          for (int i = 0; i < 2; ++i) {{
            const float p = power_of_two((score[m][j][2 * r + i] - most) * scale);
            total[m][r] += p;
            halves(p, p_high[m][j][r + 2 * i], p_low[m][j][r + 2 * i]);
          }}
      }}
#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {{
      float part[TILES][2][4] = {{}};
#pragma unroll
      for (int j = 0; j < KEYS / 8; ++j) {{
        unsigned v_high[2][2], v_low[2][2];  // of both tiles a key and the next one
#pragma unroll
        for (int i = 0; i < 2; ++i) {{
          const float2 held = *reinterpret_cast<const float2*>(v_tile + (j * 8 + lane % 4 * 2 + i) * LINE + n * 8 + lane / 4 * 2);
          halves(held.x, v_high[0][i], v_low[0][i]);
          halves(held.y, v_high[1][i], v_low[1][i]);
        }}
        if (EXACT) {{
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], p_low[at / 2][j], v_high[at % 2][0], v_high[at % 2][1]);
#pragma unroll
          for (int at = 0; at < TILES * 2; ++at)
            multiply_add(part[at / 2][at % 2], p_high[at / 2][j], v_low[at % 2][0], v_low[at % 2][1]);
        }}
#pragma unroll
        for (int at = 0; at < TILES * 2; ++at)
          multiply_add(part[at / 2][at % 2], p_high[at / 2][j], v_high[at % 2][0], v_high[at % 2][1]);
      }}
#pragma unroll
      for (int at = 0; at < TILES * 2; ++at)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          result[at / 2][n + at % 2][i] = result[at / 2][n + at % 2][i] * shrink[at / 2][i / 2] + part[at / 2][at % 2][i];
    }}
  }}
#pragma unroll
  for (int at = 0; at < TILES * 2; ++at) {{
    const int m = at / 2, r = at % 2, row = first_row + at * 8;
    total[m][r] += __shfl_xor_sync(0xffffffffu, total[m][r], 1);
    total[m][r] += __shfl_xor_sync(0xffffffffu, total[m][r], 2);
    if (row >= {T}) continue;
{row_store}#pragma unroll
    for (int n = 0; n < HEAD / 8; n += 2) {{
      const int h = n * 8 + lane % 4 * 4;
      const float4 four = make_float4(result[m][n][2 * r]{by}, result[m][n + 1][2 * r]{by}, result[m][n][2 * r + 1]{by},
                                      result[m][n + 1][2 * r + 1]{by});
      if ({H} % 4 == 0) {{
        if (h < {H}) *reinterpret_cast<float4*>(to + h) = four;
      }} else {{
        if (h < {H}) to[h] = four.x;
        if (h + 1 < {H}) to[h + 1] = four.y;
        if (h + 2 < {H}) to[h + 2] = four.z;
        if (h + 3 < {H}) to[h + 3] = four.w;
      }}
    }}
  }}
}}
)";

// Four matrices of 8 by 4 floats, one row of one of them at each lane's address.
constexpr std::string_view tensor_helpers = R"(__device__ __forceinline__ void load_matrices(const float* from, unsigned (&to)[4]) {
  const unsigned at = unsigned(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}

// Zero where it would be smaller than normal numbers.
__device__ __forceinline__ float power_of_two(float exponent) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
}
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
  const std::int64_t tile = tensor_cores ? 64 : 32, blocks = (length.values[0] + tile - 1) / tile * batches.values[0];
  const bool split = file.style().split && blocks < 264 && length.values[0] >= 512;
  std::vector<std::int64_t> queries;
  if (tensor_cores) queries = split ? std::vector<std::int64_t>{64, 32} : std::vector<std::int64_t>{128, 64};
  for (std::int64_t rows : {32, 64, 16})
    if (!tensor_cores && 4 * ((rows + 64) * (padded + 4) + rows * 33) <= 48 * 1024) queries.push_back(rows);
  if (split && queries.size() > 2) queries.resize(2);
  const std::string name = file.unique(tensor_cores ? "tensor_attention" : "attention");
  const std::string rows = file.tune("QUERIES", queries);
  // Twice the queries of a warp share what it reads and cuts of keys and values; few blocks rather have more warps.
  std::vector<std::int64_t> of_warp{16};
  if (!split && padded <= 64) of_warp = {32, 16};
  const std::string own = tensor_cores ? file.tune("WARP_QUERIES", of_warp) : "";
  const std::string part = split ? file.tune("PART", {128, 256, 64}) : "";
  const std::string parts = fmt::format("ceil_div({}, {})", length.text, part);

  Arguments arguments(file.scalars()), sums(file.scalars());
  const std::string q = arguments.pointer(buffers.at(node.operands[0]), node.dtype, false),
                    k = arguments.pointer(buffers.at(node.operands[1]), node.dtype, false),
                    v = arguments.pointer(buffers.at(node.operands[2]), node.dtype, false);
  const std::string T = arguments.number(length), H = arguments.number(head);
  const bool causal = std::get<bool>(node.attributes.at("is_causal"));
  const std::string last = causal ? fmt::format("min({}, start + {})", T, rows) : T;
  const std::string most = tensor_cores ? "largest[m][r] * scale" : "largest[r]", total = tensor_cores ? "total[m][r]" : "total[r]";
  std::string range = fmt::format("  const int begin = 0, end = {};\n", last), row_store, partial, totals;
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
        "    if ({} == 0) {}[line * 2] = {}, {}[line * 2 + 1] = {};\n    float* to = {} + line * {};\n",
        T, tensor_cores ? "lane % 4" : "tx", beside, most, beside, total, to, H);
  } else {
    row_store = fmt::format("    float* to = {} + matrix + size_t(row) * {};\n", arguments.pointer(output, node.dtype, true), H);
  }
  const std::string scale = node.operands.size() == 3 ? fmt::format("/ sqrtf(float({}))", H)
                                                      : fmt::format("{} {}", std::get<bool>(node.attributes.at("divides")) ? "/" : "*",
                                                                    arguments.number(dag.nodes[static_cast<std::size_t>(node.operands[3])]));
  file.code(fmt::format(
      fmt::runtime(tensor_cores ? tensor_code : code), fmt::arg("name", name),
      fmt::arg("parameters", arguments.parameters()), fmt::arg("head", padded), fmt::arg("queries", rows), fmt::arg("own", own), fmt::arg("resident", padded > 64 ? 128 : 192),
      fmt::arg("T", T), fmt::arg("H", H), fmt::arg("Q", q), fmt::arg("K", k), fmt::arg("V", v),
      fmt::arg("scale", "1.44269504f " + scale),
      fmt::arg("range", range), fmt::arg("row_store", row_store), fmt::arg("by", split ? "" : " / " + total),
      fmt::arg("needed", causal ? fmt::format("    if (first >= start + warp_row + {}) continue;\n", own) : ""),
      fmt::arg("may_mask", causal ? " || first + KEYS > start + warp_row + 1" : ""),
      fmt::arg("masked", causal ? " || key > first_row + m * 16 + i / 2 * 8" : ""),
      fmt::arg("masked0", causal ? " || first + tx > row" : ""),
      fmt::arg("masked1", causal ? " || first + tx + 16 > row" : "")));
  std::string grid = fmt::format("dim3(ceil_div({}, {})", length.text, rows);
  if (split) grid += fmt::format(", {}, {}", batches.text, parts);
  else if (!is_one(batches)) grid += ", " + batches.text;
  file.launch(tensor_cores ? fmt::format("{}<<<{}), {} / {} * 32, (128 + {} * {}) * {}>>>({})", name, grid, rows, own, file.style().exact ? 2 : 1, rows,
                                         4 * (padded + 4), arguments.passed())
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
    file.helper(tensor_helpers);
    file.technique(Technique::asynchronous_copy, "The next keys are on their way to shared memory while the present ones are used.");
  }
  if (causal)
    file.technique(Technique::work_skipping, "Tiles above the diagonal are not visited; blocks with the most keys start first.");
  file.end_family();
}

}  // namespace cudal1::playbook
