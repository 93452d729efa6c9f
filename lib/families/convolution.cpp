// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/product_tiles.hpp"
#include "families/windows.hpp"

#include <fmt/format.h>

namespace cudal1::families {

// A window of one element makes the weights a matrix, and the inputs of every sample another. Samples too small for
// tiles of their own are better gathered.
bool is_product(const Node& node) {
  if (!node.is<Convolution>() || node.transposed() || node.as<Convolution>().groups != 1) return false;
  std::int64_t sample = 1;
  for (const Window& window : node.windows()) {
    if (!is_one(window.taps) || window.stride != 1 || window.padding != 0) return false;
    sample *= window.outputs.values[0];
  }
  return node.shape[1].values[0] >= 8 && (sample >= 512 || sample % 64 == 0);
}

// Few results per weight are no product: those go through write_windows.
bool is_tiled_convolution(const Node& node) {
  if (!node.is<Convolution>()) return false;
  return node.shape[1].values[0] / node.as<Convolution>().groups >= 8;
}

namespace {

void check_covered(const Node& node, const Node& input) {
  if (input.dtype != tensor::Dtype::float32) throw NotCovered{"convolutions are covered for float32 only"};
  for (std::size_t i = 0; i < input.shape[0].values.size(); ++i) {
    std::int64_t sample = 1, results = 1;
    for (std::size_t k = 1; k < input.shape.size(); ++k) sample *= input.shape[k].values[i];
    for (std::size_t k = 0; k < node.shape.size(); ++k) results *= k == 1 ? 1 : node.shape[k].values[i];
    if (sample >= 1 << 28 || results >= 1 << 30)
      throw NotCovered{"a convolution with more than 2^28 inputs per sample"};
  }
}

// One convolution's kernel, with what its device code's holes hold.
class ConvolutionWriter {
 public:
  ConvolutionWriter(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file, bool on_tensor_cores, const Positives& unless)
      : region_(region), dag_(dag), buffers_(buffers), file_(file), unless_(unless), node_(dag.at(region.producer)), input_(dag.at(node_.operands[0])),
        windows_(windows_of(node_, input_)), results_(divided(node_.shape[1], groups_)), channels_(divided(input_.shape[1], groups_)),
        tensor_cores_(on_tensor_cores && results_.values[0] > 16), arguments_(file.scalars()) {
    for (const Windows::Axis& axis : windows_.axes) depth_ *= static_cast<double>(axis.window.taps.values[0]);
    depth_ *= static_cast<double>(channels_.values[0]);
  }

  void write() {
    name_ = file_.unique(fmt::format("{}{}convolution", tensor_cores_ ? "tensor_" : "", transposed_ ? "transposed_" : ""));
    choose_tiles();
    if (rows_ && transposed_) arranged_ = arrange_weights(windows_, groups_, channels_, results_, buffers_.at(node_.operands[1]), file_);
    x_ = arguments_.pointer(buffers_.at(node_.operands[0]), input_.dtype, false);
    k_ = arguments_.pointer(arranged_ ? arranged_->buffer : buffers_.at(node_.operands[1]), dag_.at(node_.operands[1]).dtype, false);
    declare_epilogue(region_, dag_, arguments_);
    walk_axes();
    place_operands();
    if (rows_) stage_inputs();
    copy_weights();
    guard();
    set({{"epilogue", after_.statements}, {"store", after_.store}, {"parameters", arguments_.parameters()}});
    const std::string_view kernel = rows_ ? "staged_convolution.cuh" : tensor_cores_ ? "gathered_convolution.cuh" : "convolution.cuh";
    file_.kernel(kernel, cuda_code::holes_in(kernel, holes_));
    launch();
    account();
  }

 private:
  void set(const std::string& key, const std::string& value) { holes_.emplace_back(key, value); }
  void set(std::initializer_list<cuda_code::Hole> holes) { holes_.insert(holes_.end(), holes); }

  void choose_tiles() {
    const std::int64_t o = results_.values[0];
    const bool wide = file_.variant().wide;
    tile_o_ = file_.tune("TILE_O", o <= 16   ? std::vector<std::int64_t>{16}
                                   : o <= 32 ? std::vector<std::int64_t>{32}
                                   : o <= 64 ? std::vector<std::int64_t>{64, 32}
                                   : wide || tensor_cores_ ? std::vector<std::int64_t>{128, 64}
                                                           : std::vector<std::int64_t>{64, 128});
    tile_p_ = file_.tune("TILE_P", wide && !tensor_cores_ ? std::vector<std::int64_t>{256, 128} : std::vector<std::int64_t>{128, 64});
    set("step", tensor_cores_ ? "32" : file_.tune("STEP", depth_ >= 96 ? std::vector<std::int64_t>{16, 8} : std::vector<std::int64_t>{8, 16}));
    if (tensor_cores_ && file_.variant().windows != Variant::Windows::gathered) rows_ = halo_tile(node_, input_, windows_, tile_p_, 3, file_.machine());
    stages_ = rows_ ? "3" : tile_stages(tile_o_, tile_p_, file_.machine());
    // Three blocks to an SM have fewer registers each; a tile of 128 by 128 needs those of two.
    if (rows_) set("blocks", file_.tune("BLOCKS", {2, 3}, fmt::format("{} * {} * BLOCKS <= 32768", tile_o_, tile_p_)));
    set({{"name", name_}, {"tile_o", tile_o_}, {"tile_p", tile_p_}, {"stages", stages_}});
  }

  void walk_axes() {
    std::string part = groups_ == 1 ? "  constexpr int group = 0;\n" : fmt::format("  const int group = blockIdx.z % {};\n", groups_);
    std::string rest = groups_ == 1 ? "blockIdx.z" : fmt::format("blockIdx.z / {}", groups_), there;
    for (std::size_t i = 3; i-- > 0;) {
      walk(i, part, rest);
      const Windows::Axis& axis = windows_.axes[i];
      edges_ = edges_ || axis.window.padding != 0;
      if (axis.dim >= 0 || i == 2)
        there = fmt::format("unsigned({}) < unsigned({})", lower_names[i], arguments_.number(axis.input)) + (there.empty() ? "" : " && ") + there;
    }
    set("part", part);
    set("there", edges_ ? there : "at.weight >= 0");
    const std::string indent(tensor_cores_ ? 8 : 6, ' ');
    set("window", edges_ ? indent + "const int d = d0 + at.d, h = h0 + at.h, w = w0 + at.w;\n" : "");
  }

  // One axis: `part` gets what a block knows of it, `rest` is what is left of the block's number.
  void walk(std::size_t i, std::string& part, std::string& rest) {
    const Windows::Axis& axis = windows_.axes[i];
    const std::string low = lower_names[i], up = upper_names[i];
    const auto& [stride, padding, dilation, outputs, taps] = axis.window;
    const std::string extent = arguments_.number(axis.input), count = arguments_.number(taps), wanted = arguments_.number(outputs);
    const bool split = transposed_ && stride > 1;
    if (split) {
      // Results r, r + stride, r + 2 stride, …; taps first, first + stride, …
      part += fmt::format("  const int r_{0} = {1} % {2}, Q{3} = ({4} - r_{0} + {5}) / {2};\n", low, rest, stride, up, wanted, stride - 1);
      part += taps_of_residue(axis.window, low, up, "r_" + low, count, "  ");
      rest += fmt::format(" / {}", stride);
      classes_ += fmt::format("{}{}", classes_.empty() ? "" : " * ", stride);
    } else {
      part += fmt::format("  {} int Q{} = {};\n", is_literal(wanted) ? "constexpr" : "const", up, wanted);
      part += fmt::format("  {} int T{} = {};\n", is_literal(count) ? "constexpr" : "const", up, count);
      part += fmt::format("  constexpr int first_{0} = 0, add_{0} = {1};\n", low, transposed_ ? padding : -padding);
    }
    set("times_" + low, std::to_string(transposed_ ? 1 : stride));
    set("step_" + low, transposed_ ? fmt::format("-{}", split ? input_step(axis.window) : dilation) : std::to_string(dilation));
    set("jump_" + low, std::to_string(split ? tap_step(axis.window) : 1));
    const auto result = [&](const char* coordinate) { return split ? fmt::format("{} * {} + r_{}", coordinate, stride, low) : coordinate; };
    set("result_" + low, result(i == 0 ? "at / (QH * QW) % QD" : i == 1 ? "at / QW % QH" : "at % QW"));
    set("own_" + low, result(i == 0 ? "line / QH % QD" : i == 1 ? "line % QH" : "w"));
    if (i == 2 && rows_) set("strips", fmt::format("({} + {}) / {}", split ? fmt::format("({} + {}) / {}", wanted, stride - 1, stride) : wanted, rows_->strip - 1, rows_->strip));
    set("K" + up, count);
    set(up, extent);
  }

  void place_operands() {
    const std::vector<std::string> at = windows_.result();
    const std::string own = arguments_.number(channels_);
    o_ = arguments_.number(results_);
    const std::string batch = arguments_.number(input_.shape[0]);
    taps_ = arguments_.number(windows_.taps());
    after_ = epilogue(region_, dag_, at, 6, arguments_);
    const std::string all_channels = arguments_.number(input_.shape[1]);
    const std::string plane = arguments_.number(product_of(input_.shape, 2, input_.shape.size(), region_.assignments));
    set({{"channels", own}, {"all_channels", all_channels}, {"batch", batch}, {"plane", plane}, {"X", x_}, {"K", k_}, {"O", o_}});
    set("weight_channel", transposed_ ? fmt::format("{} * {}", o_, taps_) : taps_);
    set("weight_result", transposed_ ? taps_ : fmt::format("{} * {}", own, taps_));
    set("weight_group", transposed_ ? fmt::format("{} * {} * {}", own, o_, taps_) : fmt::format("{} * {} * {}", o_, own, taps_));
  }

  // Inputs stand in shared memory once for all taps that read them.
  void stage_inputs() {
    const auto &h = rows_->h, &w = rows_->w;
    set({{"span_h", h.span}, {"low_h", h.low}, {"row_h", h.row}, {"shift_h", h.shift}});
    set({{"span_w", w.span}, {"low_w", w.low}, {"row_w", w.row}, {"shift_w", w.shift}});
    set({{"strip", rows_->strip}, {"line", rows_->line}, {"lanes", rows_->lanes}});
    const Window& planes = windows_.axes[0].window;
    set("packed", rows_->packs ? arguments_.number(windows_.axes[2].input) + " % 4 == 0" : "false");
    const std::string D = arguments_.number(windows_.axes[0].input), H = arguments_.number(windows_.axes[1].input), W = arguments_.number(windows_.axes[2].input);
    set("inside", windows_.axes[0].dim < 0
                      ? "          const bool inside = at.from >= 0;\n          const float* x = inside ? from + at.from : from;\n"
                      : fmt::format("          const int d = at.d + plane % TD * {};\n"
                                    "          const bool inside = at.from >= 0 && unsigned(d) < unsigned({});\n"
                                    "          const float* x = inside ? from + at.from + d * {} * {} : from;\n",
                                    transposed_ ? fmt::format("-{}", planes.stride > 1 ? input_step(planes) : planes.dilation) : std::to_string(planes.dilation), D, H, W));
    const std::string row = arranged_ ? arguments_.number(arranged_->row) : "depth";
    set("weights", fmt::format("{} + size_t({}) * {} * {}", k_, arranged_ ? "blockIdx.z" : "group", o_, row));
    set("weight_row", row);
  }

  // Weights lie along the depth, unless the convolution is transposed.
  void copy_weights() {
    set("copy_weights",
        transposed_ ? fmt::format(R"(#pragma unroll 8
      for (int line = threadIdx.x / STEP; line < {0}; line += 128 / STEP) {{
        const int o = o_start + line, from = table[threadIdx.x % STEP].weight;
        const bool inside = o < {1} && from >= 0;
        copy_async<4>(left + line * (STEP + 4) + threadIdx.x % STEP, inside ? kernel + o * {2} + from : kernel, inside);
      }}
)",
                                  tile_o_, o_, taps_)
                    : fmt::format("      if (depth % 4 == 0) copy_tile<true, true, {0}, STEP>(left, kernel, o_start, {1}, step * STEP, depth);\n"
                                  "      else copy_tile<false, true, {0}, STEP>(left, kernel, o_start, {1}, step * STEP, depth);\n",
                                  tile_o_, o_));
  }

  void guard() {
    std::string held;
    for (const auto& [buffer, count] : unless_) {
      const std::string positive = arguments_.pointer(buffer, tensor::Dtype::float32, false);
      held += fmt::format("  for (int i = threadIdx.x; i < {}; i += 256) held = held && {}[i] > 0;\n", arguments_.number(count), positive);
    }
    set("guard", unless_.empty() ? "" : "  // NaN undoes no scale: of such inputs or weights there are no halves.\n  bool held = true;\n" + held + "  if (!__syncthreads_or(!held)) return;\n");
    // Where nothing is to be done few blocks shall see it.
    set("block", unless_.empty() ? "int(blockIdx.x)" : "block");
    set("open", unless_.empty() ? fmt::format("  if (int(blockIdx.x) * {} >= positions) return;\n", tile_p_) : fmt::format("  for (int block = blockIdx.x; block * {} < positions; block += gridDim.x) {{\n", tile_p_));
    set("close", unless_.empty() ? "" : "  }\n");
  }

  void launch() {
    // The first residue has the most results.
    tensor::Extent positions = input_.shape[0];
    for (const Windows::Axis& axis : windows_.axes) {
      tensor::Extent most = axis.window.outputs;
      if (transposed_ && axis.window.stride > 1) most.text = fmt::format("ceil_div({}, {})", most.text, axis.window.stride);
      positions = times(positions, most);
    }
    std::string layers = classes_;
    if (groups_ != 1) layers += fmt::format("{}{}", layers.empty() ? "" : " * ", groups_);
    const std::string block = rows_           ? fmt::format("128, ({} * {} * 36 + {} * 5 + 64 + {}) * 4", stages_, tile_o_, tile_p_, rows_->floats)
                              : tensor_cores_ ? fmt::format("128, {} * ({} * 36 + 32 * ({} + 8)) * 4", stages_, tile_o_, tile_p_)
                                              : "256";
    const std::string tiles = rows_ ? fmt::format("{} * ceil_div({}, {})", rows_->strips, rows_->positions, tile_p_) : fmt::format("ceil_div({}, {})", positions.text, tile_p_);
    const std::string blocks = unless_.empty() ? tiles : fmt::format("min({}, ceil_div({}, ceil_div({}, {}){}))", tiles, 2 * file_.machine().multiprocessors, results_.text, tile_o_, layers.empty() ? "" : " * " + layers);
    file_.launch(fmt::format("{}<<<dim3({}, ceil_div({}, {}){}), {}>>>({})", name_, blocks, results_.text, tile_o_, layers.empty() ? "" : ", " + layers, block,
                             arguments_.passed()));
  }

  void account() {
    const bool exact = file_.variant().exact();
    const double effort = !tensor_cores_ ? 1 : rows_ ? costs::staged_convolution(exact) : costs::gathered_convolution(exact, results_.values[0] >= 128);
    if (!unless_.empty()) return file_.traffic(0, 0);
    const bool rounded = !file_.variant().exact_convolutions() && file_.machine().warpgroup_products, strided = transposed_ && windows_.axes[2].window.stride > 1;
    constexpr std::int64_t few_channels = 8;
    double times = 1, waited = 0;  // what is read and written is not hidden behind the sums
    if (rounded && channels_.values[0] < few_channels) times = costs::few_channels;
    if (rounded && tensor_cores_) waited = costs::as_operations(costs::tensor_core_bytes * 4 * (volume(input_.shape) + volume(node_.shape)) / costs::memory_rate);
    if (rounded && strided) times *= tensor_cores_ ? 1 : costs::strided_threads, waited += costs::as_operations(costs::strided_results(4 * volume(node_.shape), false));
    file_.traffic(4 * (volume(input_.shape) + volume(node_.shape)), effort * operations_of(node_, input_) * times + waited);
    file_.technique(Technique::implicit_product,
                    rows_ ? fmt::format("`{}` multiplies tiles of weights by inputs in shared memory, where each stands once for all taps; the "
                                        "matrix of all taps never exists.",
                                        name_)
                          : fmt::format("`{}` multiplies tiles of weights by tiles of gathered inputs in registers; the gathered matrix never exists.", name_));
    file_.technique(Technique::shared_memory_tiling,
                    fmt::format("Every input that `{}` loads serves {} output channels, every weight {} positions.", name_, tile_o_, tile_p_));
    if (tensor_cores_) {
      use_tensor_cores(file_, name_, "weights and inputs");
      file_.technique(Technique::asynchronous_copy, "The next inputs are on their way to shared memory while the present ones are multiplied.");
    }
    if (transposed_ && !classes_.empty())
      file_.technique(Technique::work_skipping,
                      "Results with equal residues by the stride go together, so that only taps which meet an input are multiplied.");
  }

  const Region& region_;
  const Dag& dag_;
  const Buffers& buffers_;
  KernelFile& file_;
  const Positives& unless_;
  const Node &node_, &input_;
  const bool transposed_ = node_.transposed();
  const std::int64_t groups_ = node_.as<Convolution>().groups;
  const Windows windows_;
  const tensor::Extent results_, channels_;   // of a group
  const bool tensor_cores_;
  double depth_ = 1;                          // terms of one result
  Arguments arguments_;
  std::vector<cuda_code::Hole> holes_;
  std::string name_, tile_o_, tile_p_, stages_, x_, k_, o_, taps_;
  std::optional<HaloTile> rows_;
  std::optional<ArrangedWeights> arranged_;
  std::string classes_;                       // how many residues by the strides there are
  bool edges_ = transposed_;                  // where a tap may miss the input
  Epilogue after_;
};

}  // namespace

// Bound by arithmetic in fp32 where channels are many: an implicit product, whose gathered factor never exists in
// memory. Of a transposed convolution each residue of the result's coordinates by the stride meets its own taps only,
// so no product with a zero is computed.
void write_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  write_convolution_kernel(region, dag, buffers, file, file.variant().tensor_cores(), {});
}

void write_convolution_kernel(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file, bool on_tensor_cores, const Positives& unless) {
  const Node& node = dag.at(region.producer);
  check_covered(node, dag.at(node.operands[0]));
  ConvolutionWriter(region, dag, buffers, file, on_tensor_cores, unless).write();
}

}  // namespace cudal1::families
