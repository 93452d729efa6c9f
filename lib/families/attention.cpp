// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"
#include "families/arguments.hpp"
#include "families/costs.hpp"
#include "families/families.hpp"
#include "families/product_tiles.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

// How many queries a block may take, the likeliest first.
std::vector<std::int64_t> queries_of(const schedule::Machine& machine, std::int64_t padded, std::int64_t halves, bool split) {
  std::vector<std::int64_t> queries;
  for (std::int64_t rows : {128, 64, 32})
    if (rows <= (split ? 64 : 128) && (128 + halves * rows) * 4 * (padded + 4) <= machine.shared_bytes_of_block && queries.size() < 2) queries.push_back(rows);
  if (queries.empty()) throw NotCovered{"attention whose tiles do not fit into a multiprocessor"};
  return queries;
}

// What blocks that share queries have found, put together.
struct Shares {
  std::string partial, totals, part;   // buffers; the keys of a block
};

// Of scores in powers of two.
std::string scale_of(const Node& node, const Dag& dag, const std::string& H, Arguments& arguments) {
  if (node.operands.size() == 3) return fmt::format("1.44269504f / sqrtf(float({}))", H);
  return fmt::format("1.44269504f {} {}", node.as<Attention>().divides ? "/" : "*", arguments.number(dag.at(node.operands[3])));
}

// What keeps queries from later keys.
std::vector<cuda_code::Hole> masks(bool causal, const std::string& own) {
  const auto text = [&](const std::string& mask) { return causal ? mask : std::string(); };
  return {{"needed", text(fmt::format("    if (first >= start + warp_row + {}) continue;\n", own))},
          {"may_mask", text(" || first + KEYS > start + warp_row + 1")},
          {"masked", text(" || key > first_row + m * 16 + i / 2 * 8")}};
}

// Where a block that has some of the keys leaves a query's sums.
std::string share_keys(Shares& shares, const Node& node, const tensor::Extent& batches, const std::string& parts, const std::string& T, const std::string& H,
                       Arguments& arguments, KernelFile& file) {
  const tensor::Extent length = node.shape[node.shape.size() - 2], head = node.shape.back();
  shares.partial = file.new_scratch("S", "float32", {{parts, {}}, batches, length, head});
  shares.totals = file.new_scratch("S", "float32", {{parts, {}}, batches, length, literal(2, batches.values.size())});
  const std::string to = arguments.pointer(shares.partial, tensor::Dtype::float32, true),
                    beside = arguments.pointer(shares.totals, tensor::Dtype::float32, true);
  return fmt::format(
      "    const size_t line = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * {0} + row;\n"
      "    if (lane % 4 == 0) {1}[line * 2] = largest[m][r] * scale, {1}[line * 2 + 1] = total[m][r];\n    float* to = {2} + line * {3};\n",
      T, beside, to, H);
}

void write_total(const Shares& shares, const Node& node, const std::string& output, const std::string& name, const tensor::Extent& batches, KernelFile& file) {
  const tensor::Extent length = node.shape[node.shape.size() - 2], head = node.shape.back();
  const bool causal = node.as<Attention>().causal;
  const auto &[partial, totals, part] = shares;
  const double t = static_cast<double>(length.values[0]), h = static_cast<double>(head.values[0]), b = static_cast<double>(batches.values[0]);
  Arguments sums(file.scalars());
  const std::string kernel = file.unique(name + "_total");
  const std::string from = sums.pointer(partial, tensor::Dtype::float32, false),
                    beside = sums.pointer(totals, tensor::Dtype::float32, false),
                    to = sums.pointer(output, node.dtype, true);
  const std::string length_of = sums.number(length), head_of = sums.number(head);
  file.kernel("attention_total.cuh", {{"name", kernel}, {"H", head_of}, {"R", beside},
      {"S", from}, {"O", to}, {"rows", sums.number(times(batches, length))},
      {"parts", causal ? fmt::format("int(row % {}) / {} + 1", length_of, part)
                               : fmt::format("({0} + {1} - 1) / {1}", length_of, part)},
      {"parameters", sums.parameters()}});
  file.launch(fmt::format("{}<<<ceil_div({}, 256), 256>>>({})", kernel,
                          times(times(batches, length), head).text, sums.passed()));
  file.traffic(4 * b * t * h * (2 + t / 256 * (causal ? 0.5 : 1)), 0);
  file.technique(Technique::split_reduction,
                 fmt::format("Too few queries for a large GPU: blocks of `{}` take {} keys each, `{}` adds them up.",
                             name, part, kernel));
}

void tell_techniques(const std::string& name, bool causal, KernelFile& file) {
  file.technique(Technique::online_softmax, fmt::format("`{}` normalises rows of scores while they pass, so the score matrix is never written.", name));
  file.technique(Technique::shared_memory_tiling,
                 "Keys and values go through shared memory in tiles of 32 that all queries of a block share.");
  use_tensor_cores(file, name, "queries, keys, weights and values");
  file.technique(Technique::asynchronous_copy, "The next keys are on their way to shared memory while the present ones are used.");
  if (causal)
    file.technique(Technique::work_skipping, "Tiles above the diagonal are not visited; blocks with the most keys start first.");
  file.end_family();
}

}  // namespace

// Bound by arithmetic: the score matrix never exists; its rows are normalised as they pass (online softmax). Where the
// queries are too few for a large GPU, blocks share them by their keys.
void write_attention(int id, const std::string& output, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(id);
  const std::size_t rank = node.shape.size();
  const tensor::Extent length = node.shape[rank - 2], head = node.shape[rank - 1];
  const std::int64_t padded = (*std::max_element(head.values.begin(), head.values.end()) + 15) / 16 * 16;
  if (padded > 128) throw NotCovered{"attention with heads wider than 128"};
  const tensor::Extent batches = product_of(node.shape, 0, rank - 2, head.values.size());
  const std::int64_t blocks = ceil_div(length.values[0], 64) * batches.values[0];
  const schedule::Machine& machine = file.machine();
  const bool split = file.variant().splits() && blocks < 2 * machine.multiprocessors && length.values[0] >= 512;
  const std::int64_t halves = file.variant().exact() ? 2 : 1;  // of the queries in shared memory
  const std::vector<std::int64_t> queries = queries_of(machine, padded, halves, split);
  const std::string name = file.unique("tensor_attention");
  const std::string rows = file.tune("QUERIES", queries);
  // Twice the queries of a warp share what it reads and cuts of keys and values; few blocks rather have more warps.
  const std::vector<std::int64_t> of_warp = !split && padded <= 64 ? std::vector<std::int64_t>{32, 16} : std::vector<std::int64_t>{16};
  const std::string own = file.tune("WARP_QUERIES", of_warp);
  const std::string part = split ? file.tune("PART", {128, 256, 64}) : "";
  const std::string parts = fmt::format("ceil_div({}, {})", length.text, part);

  Arguments arguments(file.scalars());
  const std::string q = arguments.pointer(buffers.at(node.operands[0]), node.dtype, false),
                    k = arguments.pointer(buffers.at(node.operands[1]), node.dtype, false),
                    v = arguments.pointer(buffers.at(node.operands[2]), node.dtype, false);
  const std::string T = arguments.number(length), H = arguments.number(head);
  const bool causal = node.as<Attention>().causal;
  const std::string last = causal ? fmt::format("min({}, start + {})", T, rows) : T;
  std::string range = fmt::format("  const int begin = 0, end = {};\n", last), row_store;
  Shares shares{"", "", part};
  if (split) {
    range = fmt::format("  const int begin = blockIdx.z * {0}, end = min({1}, begin + {0});\n  if (begin >= end) return;\n",
                        part, last);
    row_store = share_keys(shares, node, batches, parts, T, H, arguments, file);
  } else {
    row_store = fmt::format("    float* to = {} + matrix + size_t(row) * {};\n", arguments.pointer(output, node.dtype, true), H);
  }
  const std::string scale = scale_of(node, dag, H, arguments);
  std::vector<cuda_code::Hole> holes = masks(causal, own);
  holes.insert(holes.end(), {{"name", name},
      {"parameters", arguments.parameters()}, {"head", padded}, {"queries", rows}, {"own", own}, {"resident", padded > 64 ? 128 : 192},
      {"T", T}, {"H", H}, {"Q", q}, {"K", k}, {"V", v},
      {"scale", scale}, {"range", range}, {"row_store", row_store}, {"by", split ? "" : " / total[m][r]"}});
  file.kernel("tensor_attention.cuh", holes);
  std::string grid = fmt::format("dim3(ceil_div({}, {})", length.text, rows);
  if (split) grid += fmt::format(", {}, {}", batches.text, parts);
  else if (!is_one(batches)) grid += ", " + batches.text;
  file.launch(fmt::format("{}<<<{}), {} / {} * 32, (128 + {} * {}) * {}>>>({})", name, grid, rows, own, halves, rows, 4 * (padded + 4), arguments.passed()));
  const double t = static_cast<double>(length.values[0]), h = static_cast<double>(head.values[0]),
               b = static_cast<double>(batches.values[0]);
  const double idle = split ? 1 : std::max(1.0, machine.multiprocessors / static_cast<double>(blocks));
  file.traffic(16 * b * t * h, costs::attention(file.variant().exact()) * (causal ? 2 : 4) * b * t * t * h * idle);
  if (split) write_total(shares, node, output, name, batches, file);
  tell_techniques(name, causal, file);
}

}  // namespace cudal1::families
