// SPDX-License-Identifier: Apache-2.0
#include "playbook/arguments.hpp"
#include "playbook/device_functions.hpp"
#include "playbook/epilogue.hpp"
#include "playbook/factors.hpp"
#include "playbook/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

constexpr std::string_view tensor_tiles =
    R"(// In shared memory a line of a tile is padded by 4 floats, or a depth by 8, so that no two lanes meet in a bank.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ constexpr int tile_floats = ALONG_DEPTH ? TILE * (STEP + 4) : STEP * (TILE + 8);

// TILE lines by STEP depths of a factor, zero beyond its edges. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void copy_tile(float* tile, const float* from, int line_start, int lines, int depth_start, int depth) {
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / 4; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4;
    const int k = ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const float* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    float* to = tile + (ALONG_DEPTH ? line * (STEP + 4) + k : k * (TILE + 8) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
      copy_async<16>(to, inside ? at : from, inside);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool inside = at_line + (ALONG_DEPTH ? 0 : i) < lines && at_depth + (ALONG_DEPTH ? i : 0) < depth;
        copy_async<4>(to + i, inside ? at + i : from, inside);
      }
    }
  }
}

// 16 lines by 8 depths, as the tensor cores want them, as high and low halves of TF32 precision.
template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void fragment(const float* tile, int line, int k, unsigned (&high)[4], unsigned (&low)[4]) {
  const int lane = threadIdx.x % 32;
  unsigned held[4];
  if (ALONG_DEPTH) {
    const unsigned at = unsigned(__cvta_generic_to_shared(tile + (line + lane % 16) * (STEP + 4) + k + lane / 16 * 4));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[0]), "=r"(held[1]), "=r"(held[2]), "=r"(held[3]) : "r"(at));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) held[i] = __float_as_uint(tile[(k + lane % 4 + i / 2 * 4) * (TILE + 8) + line + lane / 4 + i % 2 * 8]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) halves(__uint_as_float(held[i]), high[i], low[i]);
}

// The tile's share of the product from depth `begin` to `end`. Four warps own a quarter of it each.
template <bool WHOLE, bool LEFT_ALONG, bool RIGHT_ALONG, int ROWS, int COLUMNS, int STEP, int STAGES>
__device__ __forceinline__ void tensor_tile(float (&sum)[ROWS / 32][COLUMNS / 16][4], const float* left, const float* right,
                                            int row_start, int column_start, int rows, int columns, int depth, int begin, int end) {
  extern __shared__ __align__(16) float tiles[];
  constexpr int LEFT = tile_floats<LEFT_ALONG, ROWS, STEP>, BOTH = LEFT + tile_floats<RIGHT_ALONG, COLUMNS, STEP>;
  const int warp = threadIdx.x / 32, row = warp / 2 * (ROWS / 2), column = warp % 2 * (COLUMNS / 2);
  const auto copy = [&](int stage, int k) {
    if (k < end) {
      copy_tile<WHOLE, LEFT_ALONG, ROWS, STEP>(tiles + stage * BOTH, left, row_start, rows, k, depth);
      copy_tile<WHOLE, RIGHT_ALONG, COLUMNS, STEP>(tiles + stage * BOTH + LEFT, right, column_start, columns, k, depth);
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage, begin + stage * STEP);
  int now = 0;
  for (int start = begin; start < end; start += STEP) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy((now + STAGES - 1) % STAGES, start + (STAGES - 1) * STEP);
    const float* left_tile = tiles + now * BOTH;
    now = (now + 1) % STAGES;
#pragma unroll
    for (int k = 0; k < STEP; k += 8) {
      unsigned b_high[COLUMNS / 32][4], b_low[COLUMNS / 32][4];
#pragma unroll
      for (int j = 0; j < COLUMNS / 32; ++j)
        fragment<RIGHT_ALONG, COLUMNS, STEP>(left_tile + LEFT, column + j * 16, k, b_high[j], b_low[j]);
#pragma unroll
      for (int i = 0; i < ROWS / 32; ++i) {
        unsigned a_high[4], a_low[4];
        fragment<LEFT_ALONG, ROWS, STEP>(left_tile, row + i * 16, k, a_high, a_low);
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; ++j) {
          float part[4] = {};
          multiply_add(part, a_low, b_high[j / 2][j % 2], b_high[j / 2][j % 2 + 2]);
          multiply_add(part, a_high, b_low[j / 2][j % 2], b_low[j / 2][j % 2 + 2]);
          multiply_add(part, a_high, b_high[j / 2][j % 2], b_high[j / 2][j % 2 + 2]);
#pragma unroll
          for (int q = 0; q < 4; ++q) sum[i][j][q] += part[q];
        }
      }
    }
  }
}
)";

// Into how many parts the depth is cut so that few tiles still fill a large GPU; 1: there are enough of them.
std::int64_t depth_parts(const Factors& factors) {
  const std::int64_t tiles = (factors.n.values[0] + 127) / 128 * ((factors.m.values[0] + 127) / 128);
  if (!is_one(factors.batches) || tiles >= 128) return 1;
  std::int64_t parts = 1;
  while (parts * 2 * tiles <= 256 && parts * 2 * 256 <= factors.depth.values[0]) parts *= 2;
  return parts;
}

}  // namespace

// Bound by the tensor cores: tiles of the factors stream through shared memory in several stages. Few tiles of a deep
// product are summed in parts, in a fixed order.
void write_tensor_product(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Factors factors = factors_of(region, dag, buffers);
  const Factor &left = factors.left, &right = factors.right;
  const tensor::Extent &n = factors.n, &m = factors.m, &batches = factors.batches;
  const tensor::Shape& shape = dag.nodes[static_cast<std::size_t>(region.producer)].shape;
  const std::size_t rank = shape.size();
  const std::int64_t parts = file.style().split ? depth_parts(factors) : 1;
  const std::string name = file.unique("tensor_matmul");
  const bool large = n.values[0] * m.values[0] >= 1024 * 1024 && !file.style().wide;
  const std::vector<std::int64_t> tiles =
      large ? std::vector<std::int64_t>{128, 64} : std::vector<std::int64_t>{64, 128};
  const std::string rows = file.tune("TILE_N", tiles), columns = file.tune("TILE_M", tiles);
  const std::string splits = parts > 1 ? file.tune("PARTS", {parts, std::max<std::int64_t>(2, parts / 4)}) : "1";

  Arguments arguments(file.scalars());
  const std::string a = arguments.pointer(left.buffer, tensor::Dtype::float32, false);
  const std::string b = arguments.pointer(right.buffer, tensor::Dtype::float32, false);
  Arguments total(file.scalars());
  std::string scratch, sums;
  if (parts > 1) {
    scratch = file.unique("S");
    tensor::Extent count = literal(parts, region.assignments);
    count.text = splits;
    file.scratch(scratch, "float32", {count, n, m});
    sums = arguments.pointer(scratch, tensor::Dtype::float32, true);
    total.pointer(scratch, tensor::Dtype::float32, false);
  }
  Arguments& last = parts > 1 ? total : arguments;
  declare_epilogue(region, dag, last);
  const std::string N = arguments.number(n), M = arguments.number(m), K = arguments.number(factors.depth);
  std::vector<std::string> at;
  const std::string batch_coordinates =
      coordinates(tensor::Shape(shape.begin(), shape.end() - 2), "blockIdx.z", at, arguments);
  at.resize(region.space.size());
  at[rank - 2] = "row";
  at[rank - 1] = "column";
  const Epilogue after = epilogue(region, dag, at, parts > 1 ? 2 : 8, last);

  const std::string step = "32", stages = fmt::format("({} + {} > 192 ? 3 : 4)", rows, columns);
  const std::string left_along = left.swapped ? "false" : "true", right_along = right.swapped ? "true" : "false";
  const std::string depth_range = parts > 1
                                      ? fmt::format(
                                            "  const int share = (({0} + {1} - 1) / {1} + {2} - 1) / {2} * {2};\n"
                                            "  const int begin = blockIdx.z * share, end = min({0}, begin + share);\n",
                                            K, splits, step)
                                      : fmt::format("  const int begin = 0, end = {};\n", K);
  const std::string store =
      parts > 1
          ? fmt::format("        {}[(size_t(blockIdx.z) * {} + row) * {} + column] = sum[i][j][q];\n", sums, N, M)
          : fmt::format("        const float produced = sum[i][j][q];\n{}        {}\n", after.statements, after.store);
  const std::string left_at = left.at_batch(a, arguments), right_at = right.at_batch(b, arguments);
  const std::string whole = factors.whole(arguments);
  file.helper(device_functions::tensor_core_halves);
  file.helper(tensor_tiles);
  file.code(fmt::format(
      R"(__global__ void __launch_bounds__(128, 2) {name}({parameters}) {{
  const float* left = {left};
  const float* right = {right};
{coordinates}{range}  // Eight rows of tiles are walked together, so that the blocks at work share tiles of both factors in the L2.
  const int across = ({M} + {columns} - 1) / {columns}, down = ({N} + {rows} - 1) / {rows};
  const int first = blockIdx.x / (8 * across) * 8, high = min(down - first, 8), within = blockIdx.x % (8 * across);
  const int row_start = (first + within % high) * {rows}, column_start = within / high * {columns};
  float sum[{rows} / 32][{columns} / 16][4] = {{}};
  if ({whole})
    tensor_tile<true, {left_along}, {right_along}, {rows}, {columns}, {step}, {stages}>(sum, left, right, row_start, column_start, {N}, {M}, {K}, begin, end);
  else
    tensor_tile<false, {left_along}, {right_along}, {rows}, {columns}, {step}, {stages}>(sum, left, right, row_start, column_start, {N}, {M}, {K}, begin, end);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < {rows} / 32; ++i)
#pragma unroll
    for (int j = 0; j < {columns} / 16; ++j)
#pragma unroll
      for (int q = 0; q < 4; ++q) {{
        const int row = row_start + warp / 2 * ({rows} / 2) + i * 16 + lane / 4 + q / 2 * 8;
        const int column = column_start + warp % 2 * ({columns} / 2) + j * 8 + lane % 4 * 2 + q % 2;
        if (row >= {N} || column >= {M}) continue;
{store}      }}
}}
)",
      fmt::arg("name", name), fmt::arg("left", left_at), fmt::arg("right", right_at),
      fmt::arg("coordinates", batch_coordinates), fmt::arg("range", depth_range), fmt::arg("M", M), fmt::arg("N", N),
      fmt::arg("K", K), fmt::arg("rows", rows), fmt::arg("columns", columns), fmt::arg("whole", whole),
      fmt::arg("left_along", left_along), fmt::arg("right_along", right_along), fmt::arg("step", step),
      fmt::arg("stages", stages), fmt::arg("store", store), fmt::arg("parameters", arguments.parameters())));
  const auto floats = [&](bool along, const std::string& tile) {
    return along ? fmt::format("{} * ({} + 4)", tile, step) : fmt::format("{} * ({} + 8)", step, tile);
  };
  const std::string third = parts > 1 ? ", " + splits : is_one(batches) ? "" : ", " + batches.text;
  file.launch(fmt::format("{}<<<dim3(ceil_div({}, {}) * ceil_div({}, {}){}), 128, {} * ({} + {}) * 4>>>({})", name,
                          m.text, columns, n.text, rows, third.empty() ? "" : ", 1" + third, stages,
                          floats(!left.swapped, rows), floats(right.swapped, columns), arguments.passed()));
  file.traffic(factors.bytes(), 0.8 * factors.operations(parts));
  if (parts > 1) {
    const std::string kernel = file.unique(name + "_total");
    const std::string rows_of = total.number(n), columns_of = total.number(m);
    file.code(fmt::format(R"(__global__ void __launch_bounds__(256) {0}({1}) {{
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= {2} * {3}) return;
  const int row = at / {3}, column = at % {3};
  float produced = 0;
#pragma unroll 8
  for (int part = 0; part < {4}; ++part) produced += {5}[size_t(part) * {2} * {3} + at];
{6}  {7}
}}
)",
                          kernel, total.parameters(), rows_of, columns_of, splits,
                          total.pointer(scratch, tensor::Dtype::float32, false), after.statements, after.store));
    file.launch(fmt::format("{}<<<ceil_div({} * {}, 256), 256>>>({})", kernel, n.text, m.text, total.passed()));
    file.traffic(4.0 * static_cast<double>((parts + 1) * n.values[0] * m.values[0]), 0);
    file.technique("split depth",
                   fmt::format("Few tiles of a deep product: `{}` sums its depth in {} parts, `{}` adds them "
                               "up in a fixed order.",
                               name, splits, kernel));
  }
  file.technique("tensor cores",
                 fmt::format("`{}` cuts every factor into a high and a low half of TF32 precision; three "
                             "products of them are as exact as one in fp32. An infinite input gives NaN.",
                             name));
  file.technique("tiling", fmt::format("Four warps share a tile of {} by {} results.", rows, columns));
  file.technique("asynchronous copies",
                 "The next tiles are on their way to shared memory while the present ones are multiplied.");
  if (region.instances.size() > 1)
    file.technique("fusion", "What follows the product happens while its results are in registers.");
  file.end_family();
}

}  // namespace cudal1::playbook
