// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/terms.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"

#include <map>

namespace cudal1::families {
namespace {

bool in_memory(const Instance& instance) { return instance.leaf && !instance.buffer.empty(); }

// Types whose packs of four are one access.
bool packs_in_16_bytes(tensor::Dtype dtype) { return dtype == tensor::Dtype::float32 || dtype == tensor::Dtype::int32; }

// The iteration dimension along which a transposed operand has its neighbours; -1: none, or not one for all.
int source_dim(const Region& region) {
  int found = -1;
  const std::size_t last = region.space.size() - 1;
  for (const Instance& instance : region.instances) {
    if (!in_memory(instance)) continue;
    if (!instance.offset.values.empty()) return -1;
    if (is_one(instance.strides[last]) || is_zero(instance.strides[last])) continue;
    int dim = -1;
    for (std::size_t i = 0; i < last; ++i)
      if (is_one(instance.strides[i])) dim = static_cast<int>(i);
    if (dim < 0 || (found >= 0 && found != dim)) return -1;
    found = dim;
  }
  return found;
}

// A patch of 4x4 elements, read along the operand's rows and turned in registers.
constexpr std::string_view load_patch = R"(    {{
      __align__(16) {0} held[4][4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {{
        const int row = row_start + i, column = column_start + j + q;
        const {0}* from = {1} + {2};
        if (whole && row < {3} && column < {4}) {{
          *reinterpret_cast<{0}4*>(held[q]) = *reinterpret_cast<const {0}4*>(from);
        }} else {{
#pragma unroll
          for (int r = 0; r < 4; ++r) held[q][r] = row + r < {3} && column < {4} ? from[r] : 0;
        }}
      }}
#pragma unroll
      for (int r = 0; r < 4; ++r)
        *reinterpret_cast<{0}4*>(&tile{5}[(i + r) * TILE + (j / 4 ^ i / 4) * 4]) = make_{0}4(held[0][r], held[1][r], held[2][r], held[3][r]);
    }}
)";

// One kernel that turns tiles of its operands around in shared memory.
class TranspositionWriter {
 public:
  TranspositionWriter(const Region& region, const Dag& dag, KernelFile& file)
      : region_(region), dag_(dag), file_(file), arguments_(file.scalars()) {
    packed_ = !file.variant().simple && packs_in_16_bytes(result_.dtype);
    for (const Instance& instance : region.instances)
      if (turns(instance)) packed_ = packed_ && packs_in_16_bytes(node(instance).dtype);
    // Larger tiles move longer runs, as long as there are enough of them for every multiprocessor.
    elements_ = static_cast<double>(region.rows().values[0]) * static_cast<double>(region.columns().values[0]);
    tile_ = (elements_ >= 64 * 64 * 4 * file.machine().multiprocessors) != file.variant().wide ? 64 : 32;
  }

  void write() {
    const std::string name = file_.unique("transposition");
    declare_inputs(region_, dag_, arguments_);
    const std::string out = arguments_.pointer(root_.buffer, result_.dtype, true);
    columns_ = arguments_.number(region_.space[last_]);
    rows_ = arguments_.number(region_.space[source_]);
    const std::string threads = packed_ ? file_.tune("THREADS", {256, 128}) : file_.tune("THREADS", {256, 512, 128});
    whole_.require(rows_ + " % 4 == 0");
    whole_.require(columns_ + " % 4 == 0");
    number_batches();
    load_tiles();
    at_[last_] = "column";
    at_[source_] = "row";
    const auto [uses, value] = spelling(region_, dag_, at_, packed_ ? 8 : 6, arguments_, turned_);
    if (packed_) align(root_.strides);
    const std::string_view kernel = packed_ ? "packed_transposition.cuh" : "transposition.cuh";
    const std::string to = address(root_.strides, "row", "column");
    for (const Instance& instance : region_.instances) file_.include(node(instance).dtype);
    file_.kernel(kernel, cuda_code::holes_in(kernel, {{"name", name}, {"parameters", arguments_.parameters()},
        {"threads", threads}, {"tile", tile_}, {"columns", columns_}, {"rows", rows_}, {"batch", batch_}, {"tiles", tiles_},
        {"whole", whole_.text()}, {"loads", loads_}, {"uses", uses}, {"type", tensor::cuda_name(result_.dtype)}, {"Y", out},
        {"address", to}, {"value", stored(result_.dtype, value)}}));
    file_.launch(fmt::format("{}<<<dim3(ceil_div({}, {}) * ceil_div({}, {}){}), {}>>>({})", name, region_.space[last_].text, tile_,
                             region_.space[source_].text, tile_, batch_.empty() ? "" : ", " + batches_.text, threads, arguments_.passed()));
    account(name);
  }

 private:
  const Node& node(const Instance& instance) const { return dag_.at(instance.node); }

  bool turns(const Instance& instance) const {
    return in_memory(instance) && !is_one(instance.strides[last_]) && !is_zero(instance.strides[last_]);
  }

  // Tiles of one batch are numbered along x, the batches along y and z.
  void number_batches() {
    std::vector<std::size_t> dims;
    for (std::size_t i = 0; i < last_; ++i)
      if (i != source_) dims.push_back(i);
    for (std::size_t k = dims.size(); k-- > 0;) batches_ = times(region_.space[dims[k]], batches_);
    for (const std::string& each : coordinates_along(region_.space, dims, "blockIdx.y", "int", at_, arguments_)) batch_ += "  " + each + "\n";
  }

  std::string address(const tensor::Shape& strides, const std::string& row, const std::string& column) {
    std::vector<std::string> where = at_;
    where[last_] = column;
    where[source_] = row;
    return families::address(strides, {}, where, arguments_);
  }

  void align(const tensor::Shape& strides) {
    for (const tensor::Extent& stride : strides)
      if (!is_zero(stride) && !is_one(stride)) whole_.require(arguments_.number(stride) + " % 4 == 0");
  }

  void load_tiles() {
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const Instance& instance = region_.instances[i];
      if (!turns(instance)) continue;
      const std::string pointer = arguments_.pointer(instance.buffer, node(instance).dtype, false), type(tensor::cuda_name(node(instance).dtype)),
                        at_element = address(instance.strides, "row", "column");
      if (packed_) {
        align(instance.strides);
        tiles_ += fmt::format("  __shared__ __align__(16) {} tile{}[TILE * TILE];\n", type, i);
        loads_ += fmt::format(fmt::runtime(load_patch), type, pointer, at_element, rows_, columns_, i);
        turned_[i] = fmt::format("tile{}[i * TILE + (j / 4 ^ i / 4) * 4 + q]", i);
      } else {
        tiles_ += fmt::format("  __shared__ {} tile{}[TILE][TILE + 1];\n", type, i);
        loads_ += fmt::format("        tile{0}[j][i] = {1}[{2}];\n", i, pointer, at_element);
        turned_[i] = fmt::format("tile{}[j][i]", i);
      }
    }
    if (turned_.empty()) throw NotCovered{"a transposition without a transposed operand"};
  }

  void account(const std::string& name) {
    double bytes = 0;
    for (const Instance& instance : region_.instances)
      if (in_memory(instance)) bytes += elements_ * static_cast<double>(tensor::size_of(node(instance).dtype));
    file_.traffic(bytes + elements_ * static_cast<double>(tensor::size_of(result_.dtype)), 0);
    file_.technique(Technique::shared_memory_tiling, fmt::format("`{}` reads and writes whole cache lines: a tile of {}x{} turns around in "
                                                                 "shared memory, {} so that no two lanes meet in a bank.",
                                                                 name, tile_, tile_, packed_ ? "its packs shuffled" : "one column wider"));
    if (packed_)
      file_.technique(Technique::vectorised_access,
                      "Every access to memory and to the tile moves 16 bytes; a thread turns 4x4 elements around in its registers.");
    file_.end_family();
  }

  const Region& region_;
  const Dag& dag_;
  KernelFile& file_;
  Arguments arguments_;
  const Region::Root& root_ = region_.roots[0];
  const Node& result_ = node(region_.at(root_.instance));
  const std::size_t last_ = region_.space.size() - 1, source_ = static_cast<std::size_t>(source_dim(region_));
  bool packed_ = false;
  double elements_ = 0;
  int tile_ = 32;
  std::string columns_, rows_, batch_, tiles_, loads_;
  tensor::Extent batches_ = literal(1, region_.assignments);
  std::vector<std::string> at_ = std::vector<std::string>(region_.space.size());
  std::map<std::size_t, std::string> turned_;   // instances, read from their tiles
  cuda_code::Conditions whole_;
};

}  // namespace

bool is_transposition(const Region& region) {
  if (region.reduces || region.space.size() < 2 || !region.roots[0].offset.values.empty() || source_dim(region) < 0)
    return false;
  const std::size_t last = region.space.size() - 1;
  const auto source = static_cast<std::size_t>(source_dim(region));
  return is_one(region.roots[0].strides[last]) && region.space[source].values[0] >= 16 &&
         region.space[last].values[0] >= 16;
}

// Bound by memory: reads along one dimension, writes along another, and turns a tile around in shared memory between.
void write_transposition(const Region& region, const Dag& dag, KernelFile& file) { TranspositionWriter(region, dag, file).write(); }

}  // namespace cudal1::families
