// SPDX-License-Identifier: Apache-2.0
#include "families/arguments.hpp"
#include "families/epilogue.hpp"
#include "families/factors.hpp"
#include "families/families.hpp"

#include <fmt/format.h>

namespace cudal1::families {
namespace {

// A tile of one factor goes from memory to registers and from there to shared memory, where it stands by depth.
constexpr std::string_view fetch_tile =
    R"(// TILE lines by STEP depths of a factor, four elements at a time. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void fetch_tile(float4 (&held)[TILE * STEP / 1024], const float* __restrict__ from, int line_start,
                                           int lines, int depth_start, int depth) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    const int line = line_start + (ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4);
    const int k = depth_start + (ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4));
    const float* at = from + (ALONG_DEPTH ? size_t(line) * depth + k : size_t(k) * lines + line);
    if (WHOLE) {
      held[p] = line < lines && k < depth ? *reinterpret_cast<const float4*>(at) : make_float4(0, 0, 0, 0);
    } else if (ALONG_DEPTH) {
      const int left = line < lines ? depth - k : 0;
      held[p] = make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
    } else {
      const int left = k < depth ? lines - line : 0;
      held[p] = make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
    }
  }
}

template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void place_tile(const float4 (&held)[TILE * STEP / 1024], float (&tile)[STEP][TILE + 4]) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    if (ALONG_DEPTH) {
      const int line = pack / (STEP / 4), k = pack % (STEP / 4) * 4;
      tile[k][line] = held[p].x;
      tile[k + 1][line] = held[p].y;
      tile[k + 2][line] = held[p].z;
      tile[k + 3][line] = held[p].w;
    } else {
      *reinterpret_cast<float4*>(&tile[pack / (TILE / 4)][pack % (TILE / 4) * 4]) = held[p];
    }
  }
}
)";

}  // namespace

// Bound by arithmetic: 16x16 threads own a tile of the result in registers; tiles of the factors pass through two
// buffers in shared memory, so that loading the next overlaps with the use of this one. Products are exact fp32 FMA.
void write_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Factors factors = factors_of(region, dag, buffers);
  const Factor &left = factors.left, &right = factors.right;
  const tensor::Extent &n = factors.n, &m = factors.m, &batches = factors.batches;
  const tensor::Shape& shape = region.space;
  const std::size_t rank = shape.size();
  const std::string name = file.unique("matmul");
  const bool large = n.values[0] * m.values[0] >= 1024 * 1024 && !file.style().wide;
  const std::string rows =
      file.tune("TILE_N", large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128});
  const std::string columns =
      file.tune("TILE_M", large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128});
  const std::string step = file.tune("STEP", {16});
  Arguments arguments(file.scalars());
  const std::string a = arguments.pointer(left.buffer, tensor::Dtype::float32, false);
  const std::string b = arguments.pointer(right.buffer, tensor::Dtype::float32, false);
  declare_epilogue(region, dag, arguments);
  const std::string N = arguments.number(n), M = arguments.number(m), K = arguments.number(factors.depth);

  std::vector<std::string> at;
  const tensor::Shape batch(shape.begin(), shape.end() - 2);
  const std::string batch_coordinates = coordinates(batch, "blockIdx.z", at, arguments);
  at.resize(region.space.size());
  at[rank - 2] = "row";
  at[rank - 1] = "column";
  const Epilogue after = epilogue(region, dag, at, 6, arguments);
  const std::string left_at = left.at_batch(a, arguments), right_at = right.at_batch(b, arguments);
  const std::string needed = factors.needed_depths(K, rows, columns, step);
  std::string body = fmt::format(R"(  constexpr int TN = {rows} / 16, TM = {columns} / 16;
  const float* left = {left};
  const float* right = {right};
  const int row_start = blockIdx.y * {rows}, column_start = blockIdx.x * {columns};
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
{coordinates}{needed}  float4 left_held[{rows} * {step} / 1024], right_held[{columns} * {step} / 1024];
  float sum[TN][TM] = {{}};
  fetch_tile<WHOLE, {left_along}, {rows}, {step}>(left_held, left, row_start, {N}, {begin}, {K});
  fetch_tile<WHOLE, {right_along}, {columns}, {step}>(right_held, right, column_start, {M}, {begin}, {K});
  place_tile<{left_along}, {rows}, {step}>(left_held, left_tile[0]);
  place_tile<{right_along}, {columns}, {step}>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = {begin}; start < {end}; start += {step}) {{
    const bool more = start + {step} < {end};
    if (more) {{
      fetch_tile<WHOLE, {left_along}, {rows}, {step}>(left_held, left, row_start, {N}, start + {step}, {K});
      fetch_tile<WHOLE, {right_along}, {columns}, {step}>(right_held, right, column_start, {M}, start + {step}, {K});
    }}
#pragma unroll
    for (int k = 0; k < {step}; ++k) {{
      float a[TN], b[TM];
#pragma unroll
      for (int i = 0; i < TN; i += 4)
        *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&left_tile[now][k][i * 16 + ty * 4]);
#pragma unroll
      for (int j = 0; j < TM; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&right_tile[now][k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TN; ++i)
#pragma unroll
        for (int j = 0; j < TM; ++j) sum[i][j] += a[i] * b[j];
    }}
    if (more) {{
      place_tile<{left_along}, {rows}, {step}>(left_held, left_tile[now ^ 1]);
      place_tile<{right_along}, {columns}, {step}>(right_held, right_tile[now ^ 1]);
      __syncthreads();
      now ^= 1;
    }}
  }}
#pragma unroll
  for (int i = 0; i < TN; ++i) {{
    const int row = row_start + i / 4 * 64 + ty * 4 + i % 4;
    if (row >= {N}) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {{
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= {M}) continue;
      const float produced = sum[i][j];
{epilogue}      {store}
    }}
  }}
)",
                                 fmt::arg("rows", rows), fmt::arg("columns", columns), fmt::arg("step", step),
                                 fmt::arg("left", left_at), fmt::arg("right", right_at),
                                 fmt::arg("coordinates", batch_coordinates), fmt::arg("N", N), fmt::arg("M", M),
                                 fmt::arg("K", K), fmt::arg("left_along", left.swapped ? "false" : "true"),
                                 fmt::arg("right_along", right.swapped ? "true" : "false"),
                                 fmt::arg("epilogue", after.statements), fmt::arg("store", after.store),
                                 fmt::arg("needed", needed), fmt::arg("begin", needed.empty() ? "0" : "begin"),
                                 fmt::arg("end", needed.empty() ? K : "end"));
  // `lines` of fetch_tile is the leading dimension where neighbours lie across the depth.
  file.helper(fetch_tile);
  // The tiles belong to the kernel, so that both instances of the body share them.
  const std::string left_tile = fmt::format("left_tile[2][{}][{} + 4]", step, rows);
  const std::string right_tile = fmt::format("right_tile[2][{}][{} + 4]", step, columns);
  file.code(
      fmt::format("template <bool WHOLE>\n__device__ __forceinline__ void {}_body({}, float {}, float {}) {{\n{}}}\n",
                  name, arguments.parameters(), left_tile, right_tile, body));
  const std::string whole = factors.whole(arguments);
  file.code(
      fmt::format("__global__ void __launch_bounds__(256) {0}({1}) {{\n  __shared__ __align__(16) float {4}, {5};\n"
                  "  if ({2}) {0}_body<true>({3}, left_tile, right_tile);\n"
                  "  else {0}_body<false>({3}, left_tile, right_tile);\n}}\n",
                  name, arguments.parameters(), whole, arguments.forwarded(), left_tile, right_tile));
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}), ceil_div({}, {}){}), 256>>>({})", name, m.text, columns, n.text,
                          rows, is_one(batches) ? "" : ", " + batches.text, arguments.passed()));
  file.traffic(factors.bytes(), factors.operations());
  file.technique(Technique::shared_memory_tiling, fmt::format("`{}` keeps a tile of the result in the registers of 256 threads; each element "
                                       "loaded is used {} or {} times.",
                                       name, rows, columns));
  file.technique(Technique::double_buffering,
                 "The next tiles are fetched into registers while the present ones are multiplied.");
  if (!needed.empty()) file.technique(Technique::work_skipping, "Depths at which a triangular factor is zero are left out.");
  if (region.instances.size() > 1)
    file.technique(Technique::fusion, fmt::format("What follows the product happens in the registers of `{}`.", name));
  file.end_family();
}

}  // namespace cudal1::families
