// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/straight_tile.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

class StraightConvolution {
 public:
  StraightConvolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file)
      : region_(region), dag_(dag), buffers_(buffers), file_(file), node_(dag.at(region.producer)), input_(dag.at(node_.operands[0])), windows_(windows_of(node_, input_)),
        groups_(node_.as<Convolution>().groups), channels_(divided(input_.shape[1], groups_)), results_(divided(node_.shape[1], groups_)),
        taps_{met_taps(node_, window(0)), met_taps(node_, window(1)), met_taps(node_, window(2))}, tile_(*straight_tile(node_, input_, windows_, file.machine())),
        name_(file.unique("straight_convolution")) {}

  void write() {
    write_weights();
    write_products();
    say_techniques();
  }

 private:
  bool transposed() const { return node_.transposed(); }
  const Window& window(std::size_t axis) const { return windows_.axes[axis].window; }
  bool residues(std::size_t axis) const { return has_residues(node_, window(axis)); }
  std::int64_t stride(std::size_t axis) const { return transposed() ? 1 : window(axis).stride; }
  std::int64_t classes() const { return taps_[0].classes * taps_[1].classes * taps_[2].classes; }
  std::int64_t kinds() const { return kinds_of_tiles(node_, windows_); }

  void write_weights() {
    const std::int64_t slots = classes() * taps_[0].most * taps_[2].most;  // for a step of channels and a tile of results
    const tensor::Extent downs = ceil_div(results_, tile_.columns), steps = ceil_div(channels_, tile_.channels);
    const std::size_t sizes = results_.values.size();
    weights_ = file_.new_scratch("W", "float32", {literal(groups_, sizes), downs, steps, literal(slots * tile_.slot_bytes(taps_[1]) / 4, sizes)});
    Arguments arguments(file_.scalars());
    const std::string from = arguments.pointer(buffers_.at(node_.operands[1]), tensor::Dtype::float32, false), to = arguments.pointer(weights_, tensor::Dtype::float32, true);
    const std::string C = arguments.number(channels_), O = arguments.number(results_), taps = windows_.taps().text, name = file_.unique("straight_weights");
    const std::string at = transposed() ? fmt::format("((group * {} + c + i) * {} + o) * {}", C, O, taps) : fmt::format("((group * {} + o) * {} + c + i) * {}", O, C, taps);
    file_.kernel("straight_weights.cuh", {{"name", name}, {"parameters", arguments.parameters()}, {"reversed", transposed()}, {"columns", tile_.columns}, {"channels", tile_.channels},
        {"parts", tile_.channels / 8}, {"most_d", taps_[0].most}, {"most_h", taps_[1].most}, {"most_w", taps_[2].most}, {"step_d", taps_[0].classes}, {"step_h", taps_[1].classes},
        {"step_w", taps_[2].classes}, {"taps_d", window(0).taps.values[0]}, {"taps_h", window(1).taps.values[0]}, {"taps_w", window(2).taps.values[0]}, {"groups", groups_}, {"C", C}, {"O", O},
        {"K", from}, {"from", at}, {"W", to}});
    file_.launch(fmt::format("{}<<<ceil_div({} * {} * {} * {}, 1024), 256>>>({})", name, groups_ * slots, downs.text, steps.text, tile_.slot_bytes(taps_[1]) / 4, arguments.passed()));
    file_.preparation(8.0 * volume(dag_.at(node_.operands[1]).shape), 1, costs::preparation_seconds);
  }

  void write_products() {
    Arguments arguments(file_.scalars());
    const std::string x = arguments.pointer(buffers_.at(node_.operands[0]), tensor::Dtype::float32, false), weights = arguments.pointer(weights_, tensor::Dtype::float32, false);
    declare_epilogue(region_, dag_, arguments);
    const std::string C = arguments.number(channels_), all = arguments.number(input_.shape[1]), O = arguments.number(results_), B = arguments.number(input_.shape[0]);
    const auto extent = [&](std::size_t axis) { return arguments.number(windows_.axes[axis].input); };
    const std::string D = extent(0), H = extent(1), W = extent(2);
    std::string count, located = locate(O, B, arguments, count);
    const Epilogue after = epilogue(region_, dag_, windows_.result(), 12, arguments);
    std::string place = "          const int at_b = b_start";
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string own = i == 0 ? "d_start" : fmt::format("({0}_start + part_{0})", lower_names[i]);
      place += fmt::format(", at_{} = {}{}", lower_names[i], own, residues(i) ? fmt::format(" * {} + r_{}", window(i).stride, lower_names[i]) : "");
    }
    place += fmt::format(";\n          const bool there = at_b < {}", B);
    for (std::size_t i = 0; i < 3; ++i) place += fmt::format(" && at_{} < {}", lower_names[i], arguments.number(window(i).outputs));
    file_.kernel("straight_convolution.cuh", {{"name", name_}, {"parameters", arguments.parameters()}, {"columns", tile_.columns}, {"channels", tile_.channels}, {"block_h", tile_.block_h},
        {"block_w", tile_.block_w}, {"pair_h", tile_.pair_h}, {"pair_w", tile_.pair_w}, {"most_d", taps_[0].most}, {"most_h", taps_[1].most}, {"most_w", taps_[2].most}, {"step_d", taps_[0].step},
        {"step_h", taps_[1].step}, {"step_w", taps_[2].step}, {"stride_h", stride(1)}, {"stride_w", stride(2)}, {"pitch", tile_.pitch}, {"lines", tile_.lines}, {"plane", tile_.plane},
        {"sums", sums()}, {"windows", tile_.windows}, {"slots", tile_.slots}, {"kinds", kinds_text(O)}, {"tiles", count}, {"locate", located}, {"classes", classes()}, {"X", x}, {"weights", weights}, {"C", C},
        {"all_channels", all}, {"O", O}, {"B", B}, {"D", D}, {"H", H}, {"W", W}, {"warps_w", tile_.warps_w}, {"strip_h", tile_.strip_h}, {"strip_w", tile_.strip_w}, {"place", place + ";\n"},
        {"store", fmt::format("{}            {}\n", after.statements, after.store)}});
    std::string places = in_parentheses(input_.shape[0].text);
    const std::int64_t sizes[] = {1, tile_.height, tile_.width};
    for (std::size_t i = 0; i < 3; ++i)
      places += fmt::format(" * ceil_div({}, {})", residues(i) ? fmt::format("ceil_div({}, {})", window(i).outputs.text, window(i).stride) : window(i).outputs.text, sizes[i]);
    // As many blocks of each kind, so that each keeps its weights.
    const std::string kinds = fmt::format("(ceil_div({}, {}) * {})", results_.text, tile_.columns, this->kinds());
    file_.launch(fmt::format("{}<<<min(max(1, {} / {}), ceil_div({}, 2)) * {}, 384, {}>>>({})", name_, file_.machine().multiprocessors, kinds, places, kinds, tile_.shared_bytes(taps_[1]),
                             arguments.passed()));
    const double strided = residues(2) ? costs::as_operations(costs::strided_results(4 * volume(node_.shape), true)) : 0;
    file_.traffic(4 * (volume(input_.shape) + volume(node_.shape)), std::max(strided, costs::straight_convolution(tile_.clocks)));
  }

  std::string kinds_text(const std::string& O) const { return fmt::format("({} + {}) / {} * {}", O, tile_.columns - 1, tile_.columns, kinds()); }

  // What a tile is of, the input that its window begins with and how many taps it meets; `count` is how many tiles there are.
  std::string locate(const std::string& O, const std::string& B, Arguments& arguments, std::string& count) const {
    std::string text = fmt::format("        const int downs = ({} + COLUMNS - 1) / COLUMNS, down = tile % downs, row_start = down * COLUMNS;\n        int rest = tile / downs;\n", O);
    const auto part = [&](const std::string& name, const std::string& all, std::int64_t times) {
      text += fmt::format("        const int {0} = rest % ({1}){2};\n        rest /= {1};\n", name, all, times == 1 ? "" : fmt::format(" * {}", times));
    };
    if (groups_ == 1) text += "        const int group = 0;\n";
    else part("group", std::to_string(groups_), 1);
    // Blocks at work together have all residues of the same places: so the sectors that they share are written whole.
    for (const std::size_t i : {2, 1, 0})
      if (residues(i)) part(fmt::format("r_{}", lower_names[i]), std::to_string(window(i).stride), 1);
    text += "        rest = rest * 2 + team;\n";
    std::string places = B;
    const std::int64_t sizes[] = {1, tile_.height, tile_.width};
    for (const std::size_t i : {2, 1, 0}) {
      const std::string outputs = arguments.number(window(i).outputs), wanted = residues(i) ? fmt::format("({} + {}) / {}", outputs, window(i).stride - 1, window(i).stride) : outputs;
      const std::string all = fmt::format("(({} + {}) / {})", wanted, sizes[i] - 1, sizes[i]);
      part(fmt::format("{}_start", lower_names[i]), all, sizes[i]);
      places += " * " + all;
    }
    text += "        const int b_start = rest;\n";
    count = fmt::format("({} + 1) / 2 * kinds", in_parentheses(places));
    for (const std::size_t i : {2, 1, 0}) text += first_input(i);
    // Where one axis has no tap nothing is to be copied.
    text += "        const int steps = TH * TW == 0 ? 0 : channel_steps * TD;\n";
    return text + fmt::format("        const int taps_class = (({}) * {} + {}) * {} + {};\n", class_of(0), taps_[1].classes, class_of(1), taps_[2].classes, class_of(2));
  }

  std::string class_of(std::size_t axis) const { return residues(axis) ? fmt::format("first_{}", lower_names[axis]) : "0"; }

  std::string first_input(std::size_t axis) const {
    const auto& [stride, padding, dilation, outputs, taps] = window(axis);
    const char *low = lower_names[axis], *up = upper_names[axis];
    if (residues(axis))
      return taps_of_residue(window(axis), low, up, fmt::format("r_{}", low), std::to_string(taps.values[0]), "        ") +
             fmt::format("        const int from_{0} = {0}_start + add_{0} - (T{1} - 1) * {2};\n", low, up, input_step(window(axis)));
    return fmt::format("        constexpr int T{1} = {2};\n        const int from_{0} = {0}_start{3} + {4};\n", low, up, taps.values[0], transposed() || stride == 1 ? "" : fmt::format(" * {}", stride),
                       transposed() ? padding - (taps.values[0] - 1) * dilation : -padding);
  }

  // Of a transposed convolution a tile meets all taps down that any meets, or one less. Each has loops of its own, so that no condition keeps products apart.
  std::string sums() const {
    const auto of = [](std::int64_t taps) { return cuda_code::device_code("straight_sums.cuh", {{"down", taps}}); };
    if (!residues(1)) return of(taps_[1].most);
    return fmt::format("      if (TH == {0}) {{\n{1}      }} else {{\n{2}      }}\n", taps_[1].most, of(taps_[1].most), of(std::max<std::int64_t>(1, taps_[1].most - 1)));
  }

  void say_techniques() {
    file_.technique(Technique::implicit_product, fmt::format("`{}` multiplies boxes of inputs, which it copies as they lie in memory, by weights; a window of them is copied once for all taps, so the matrix of all taps never exists.", name_));
    file_.technique(Technique::tensor_cores, fmt::format("Weights and inputs are rounded to TF32. Two warpgroups of `{}` multiply them (wgmma): inputs from registers, and weights from shared memory.", name_));
    file_.technique(Technique::asynchronous_copy, "Warps of their own keep rings of windows and of weights in shared memory full.");
    if (kinds() > groups_) file_.technique(Technique::work_skipping, "Results with equal residues by the stride go together, so that only taps which meet an input are multiplied.");
  }

  const Region& region_;
  const Dag& dag_;
  const Buffers& buffers_;
  KernelFile& file_;
  const Node &node_, &input_;
  Windows windows_;
  std::int64_t groups_;
  tensor::Extent channels_, results_;
  std::array<MetTaps, 3> taps_;
  StraightTile tile_;
  std::string name_, weights_;
};

}  // namespace

// With fewer channels most of a step of the depth would be empty.
bool is_straight_convolution(const Node& node, const Node& input, const Node& weights, const schedule::Machine& machine) {
  constexpr std::int64_t fewest_channels = 3, largest_window = 512;
  if (!machine.warpgroup_products || !is_tiled_convolution(node) || input.dtype != tensor::Dtype::float32 || weights.dtype != tensor::Dtype::float32) return false;
  if (input.shape[1].values[0] / node.as<Convolution>().groups < fewest_channels) return false;
  const Windows windows = windows_of(node, input);
  for (const Windows::Axis& axis : windows.axes)
    if (!axis.fixed) return false;
  return windows.taps().values[0] <= largest_window && straight_tile(node, input, windows, machine);
}

void write_straight_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) { StraightConvolution(region, dag, buffers, file).write(); }

}  // namespace cudal1::families
