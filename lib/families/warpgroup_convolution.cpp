// SPDX-License-Identifier: Apache-2.0
#include "algebra/dag.hpp"
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/product_tiles.hpp"
#include "families/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

constexpr std::int64_t aligned_channels = 8;

class WarpgroupConvolution {
 public:
  WarpgroupConvolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file)
      : region_(region), dag_(dag), buffers_(buffers), file_(file), node_(dag.at(region.producer)), input_(dag.at(node_.operands[0])), windows_(windows_of(node_, input_)),
        groups_(node_.as<Convolution>().groups), channels_(divided(input_.shape[1], groups_)), results_(divided(node_.shape[1], groups_)),
        pitch_(round_up(input_.shape[1], aligned_channels)), weight_pitch_(round_up(channels_, aligned_channels)), halves_(file.variant().exact_convolutions() ? 2 : 1), taps_(windows_.taps().values[0]),
        step_(step_channels(channels_.values[0])), tile_(*convolution_tile(node_, input_, windows_, halves_, file.machine())), name_(file.unique("warpgroup_convolution")) {}

  void write() {
    write_weights();
    write_inputs();
    write_products();
    file_.end_family();
    write_convolution_kernel(region_, dag_, buffers_, file_, false, {{input_back_, input_.shape[0]}, {weight_back_, node_.shape[1]}});
    say_techniques();
  }

 private:
  bool transposed() const { return node_.transposed(); }
  const Window& window(std::size_t axis) const { return windows_.axes[axis].window; }
  bool residues(std::size_t axis) const { return has_residues(node_, window(axis)); }
  // Inputs with equal residues by the stride of any other have a map of their own.
  std::int64_t phases(std::size_t axis) const { return transposed() ? 1 : window(axis).stride; }
  // Taps of a tile, at most.
  std::int64_t met_taps() const {
    std::int64_t result = 1;
    for (std::size_t i = 0; i < 3; ++i) result *= residues(i) ? most_taps(window(i)) : window(i).taps.values[0];
    return result;
  }
  // Results along an axis that are a stride apart, at most.
  std::int64_t wanted(std::size_t axis) const { return results_of_residue(node_, window(axis)); }
  std::string wanted_text(std::size_t axis) const {
    const Window& own = window(axis);
    return residues(axis) ? fmt::format("ceil_div({}, {})", own.outputs.text, own.stride) : in_parentheses(own.outputs.text);
  }

  void write_weights() {
    weights_ = file_.new_scratches(halves_, {"WH", "WL"}, "float16", {literal(groups_ * taps_, region_.assignments), results_, weight_pitch_});
    weight_back_ = file_.new_scratch("R", "float32", {node_.shape[1]});
    Arguments arguments(file_.scalars());
    const std::string k = arguments.pointer(buffers_.at(node_.operands[1]), tensor::Dtype::float32, false);
    const std::string high = arguments.pointer(weights_[0], tensor::Dtype::float16, true), low = halves_ > 1 ? arguments.pointer(weights_[1], tensor::Dtype::float16, true) : "";
    const std::string back = arguments.pointer(weight_back_, tensor::Dtype::float32, true);
    const std::string C = arguments.number(channels_), O = arguments.number(results_), pitch = arguments.number(weight_pitch_), name = file_.unique("split_weights");
    file_.kernel("split_weights.cuh", {{"name", name}, {"parameters", arguments.parameters()},
        {"from", transposed() ? fmt::format("{} + (size_t(group) * {} * {} + result) * taps", k, C, O) : fmt::format("{} + size_t(blockIdx.x) * {} * taps", k, C)},
        {"between_channels", transposed() ? O + " * taps" : "taps"}, {"H", high},
        {"low", low.empty() ? "" : fmt::format("    {}[to] = __float2half_rn((x - __half2float(high)) * 2048.0f);\n", low)}, {"back", back}, {"C", C}, {"O", O},
        {"taps", taps_}, {"pitch", pitch}, {"least", halves_ > 1 ? "0x1p-25f" : "0x1p-14f"}});
    file_.launch(fmt::format("{}<<<{}, 256>>>({})", name, node_.shape[1].text, arguments.passed()));
    prepared((4.0 + 2 * halves_) * volume(dag_.at(node_.operands[1]).shape));
  }

  void write_inputs() {
    const tensor::Extent plane = product_of(input_.shape, 2, input_.shape.size(), region_.assignments);
    inputs_ = file_.new_scratches(halves_, {"XH", "XL"}, "float16", {input_.shape[0], plane, pitch_});
    input_back_ = file_.new_scratch("R", "float32", {input_.shape[0]});
    if (halves_ == 1 && groups_ == 1) write_rounded_inputs(plane);
    else write_split_inputs(plane);
  }

  void prepared(double bytes) { file_.preparation(bytes, halves_ == 1 ? costs::rounded_share : 1, halves_ == 1 ? costs::preparation_seconds : 0); }

  // Where blocks leave the largest and the smallest that they find, `count` of each sample.
  std::string new_parts(const tensor::Extent& count) { return file_.new_scratch("S", "float32", {input_.shape[0], count, literal(2, count.values.size())}); }

  // Places meet all channels, so that one pass sees what there is of a place, and rounds it.
  void write_rounded_inputs(const tensor::Extent& plane) {
    // Each block looks for its sample's scale first: few of them, but enough for all multiprocessors.
    const std::int64_t pieces = 64 / step_, turns = ceil_div(plane.values[0], 32 * pieces) * input_.shape[0].values[0] >= 64 * file_.machine().multiprocessors ? 4 : 1;
    const tensor::Extent blocks = ceil_div(plane, 32 * pieces * turns);  // of each sample
    const tensor::Extent count_of = changed(blocks, fmt::format("{} * {}", blocks.text, pieces), [&](std::int64_t value) { return value * pieces; });
    const std::string parts = new_parts(count_of);
    const std::string name = file_.unique("round_inputs"), from = buffers_.at(node_.operands[0]), samples = input_.shape[0].text;
    Arguments arguments(file_.scalars()), scale(file_.scalars());
    const std::string x = arguments.pointer(from, tensor::Dtype::float32, false), high = arguments.pointer(inputs_[0], tensor::Dtype::float16, true);
    const std::string own_parts = arguments.pointer(parts, tensor::Dtype::float32, true), scale_x = scale.pointer(from, tensor::Dtype::float32, false);
    const std::string scale_parts = scale.pointer(parts, tensor::Dtype::float32, false), back = scale.pointer(input_back_, tensor::Dtype::float32, true);
    const std::string C = arguments.number(input_.shape[1]), P = arguments.number(plane), pitch = arguments.number(pitch_);
    const std::string scale_C = scale.number(input_.shape[1]), scale_P = scale.number(plane), count = scale.number(count_of);
    file_.kernel("round_inputs.cuh", {{"name", name}, {"step", step_}, {"turns", turns}, {"parameters", arguments.parameters()}, {"X", x}, {"H", high}, {"parts", own_parts}, {"C", C}, {"P", P}, {"pitch", pitch},
        {"scale_parameters", scale.parameters()}, {"scale_X", scale_x}, {"scale_C", scale_C}, {"scale_P", scale_P}, {"scale_parts", scale_parts}, {"scale_back", back}, {"scale_count", count}});
    file_.launch(fmt::format("{}<<<dim3({}, {}), 256>>>({})", name, blocks.text, samples, arguments.passed()));
    file_.launch(fmt::format("{}_scales<<<{}, 256>>>({})", name, samples, scale.passed()));
    prepared(6.0 * volume(input_.shape));
    prepared(0);
  }

  void write_split_inputs(const tensor::Extent& plane) {
    const tensor::Extent blocks = ceil_div(plane, 32);  // of each sample
    const std::string parts = new_parts(blocks);
    const std::string name = file_.unique("split_inputs"), from = buffers_.at(node_.operands[0]);
    Arguments measure(file_.scalars()), scale(file_.scalars()), arguments(file_.scalars());
    const std::string measure_x = measure.pointer(from, tensor::Dtype::float32, false), measure_parts = measure.pointer(parts, tensor::Dtype::float32, true);
    const std::string measure_c = measure.number(input_.shape[1]), measure_p = measure.number(plane);
    const std::string scale_parts = scale.pointer(parts, tensor::Dtype::float32, false), scale_back = scale.pointer(input_back_, tensor::Dtype::float32, true);
    const std::string scale_count = scale.number(blocks);
    const std::string x = arguments.pointer(from, tensor::Dtype::float32, false), back = arguments.pointer(input_back_, tensor::Dtype::float32, false);
    const std::string high = arguments.pointer(inputs_[0], tensor::Dtype::float16, true), low = halves_ > 1 ? arguments.pointer(inputs_[1], tensor::Dtype::float16, true) : "";
    const std::string C = arguments.number(input_.shape[1]), P = arguments.number(plane), pitch = arguments.number(pitch_);
    const std::string lower = fmt::format("  const uint2 low_a = low_halves(a, high_a), low_b = low_halves(b, high_b);\n"
                                          "  *reinterpret_cast<uint4*>({} + to) = make_uint4(low_a.x, low_a.y, low_b.x, low_b.y);\n", low);
    file_.kernel("split_inputs.cuh", {{"name", name}, {"measure_parameters", measure.parameters()}, {"measure_X", measure_x}, {"measure_parts", measure_parts},
        {"measure_C", measure_c}, {"measure_P", measure_p}, {"groups", groups_}, {"scale_parameters", scale.parameters()}, {"scale_parts", scale_parts}, {"scale_back", scale_back},
        {"scale_count", scale_count}, {"parameters", arguments.parameters()}, {"X", x}, {"back", back}, {"H", high}, {"low", low.empty() ? "" : lower}, {"C", C}, {"P", P},
        {"pitch", pitch}});
    const std::string samples = input_.shape[0].text;
    file_.launch(fmt::format("{}_measure<<<dim3({}, {}), 256>>>({})", name, blocks.text, samples, measure.passed()));
    file_.launch(fmt::format("{}_scales<<<{}, 128>>>({})", name, samples, scale.passed()));
    file_.launch(fmt::format("{}<<<dim3({}, ceil_div({}, 64), {}), 256>>>({})", name, blocks.text, input_.shape[1].text, samples, arguments.passed()));
    prepared(4.0 * volume(input_.shape));
    prepared((4.0 + 2 * halves_) * volume(input_.shape));
    prepared(0);
  }

  // Inputs at places that are a stride apart, from one of the first on.
  std::string input_map(const std::string& buffer, const std::array<std::int64_t, 3>& phase) const {
    const auto extent = [&](std::size_t i) { return in_parentheses(windows_.axes[i].input.text); };
    const std::string pitch = in_parentheses(pitch_.text), row = fmt::format("{} * {}", extent(2), pitch), plane = fmt::format("{} * {}", extent(1), row);
    std::string from = buffer;
    if (phase != std::array<std::int64_t, 3>{}) from += fmt::format(" + (({} * {} + {}) * {} + {}) * {}", phase[0], extent(1), phase[1], extent(2), phase[2], pitch);
    const auto axis = [&](std::size_t i) { return phases(i) == 1 ? windows_.axes[i].input.text : fmt::format("ceil_div({} - {}, {})", extent(i), phase[i], phases(i)); };
    const auto apart = [&](std::size_t i, const std::string& text) { return phases(i) == 1 ? text : fmt::format("{} * {}", phases(i), text); };
    return fmt::format("tensor_map({}, axes({}, {}, {}, {}, {}), strides({}, {}, {}, {} * {}), box({}, {}, {}, 1, {}), swizzle({}))", from, input_.shape[1].text, axis(2), axis(1),
                       axis(0), input_.shape[0].text, apart(2, pitch), apart(1, row), apart(0, plane), extent(0), plane, step_, tile_.pitch, tile_.lines, tile_.samples, 2 * step_);
  }

  // Each half's maps of inputs, by their phases; the last axis fastest.
  std::vector<std::vector<std::string>> input_maps(Arguments& arguments) const {
    std::vector<std::vector<std::string>> result;
    for (int half = 0; half < halves_; ++half) {
      result.emplace_back();
      for (std::int64_t d = 0; d < phases(0); ++d)
        for (std::int64_t h = 0; h < phases(1); ++h)
          for (std::int64_t w = 0; w < phases(2); ++w)
            result.back().push_back(arguments.tensor_map(fmt::format("{}_map{}", half == 0 ? "inputs" : "inputs_low", result.back().empty() ? "" : fmt::format("_{}", result.back().size())),
                                                         input_map(inputs_[static_cast<std::size_t>(half)], {d, h, w})));
    }
    return result;
  }

  void write_products() {
    Arguments arguments(file_.scalars());
    std::vector<std::string> weight_maps;
    for (int half = 0; half < halves_; ++half)
      weight_maps.push_back(arguments.tensor_map(half == 0 ? "weights_map" : "weights_low_map",
          fmt::format("tensor_map({}, axes({}, {}, {}), strides({}, {} * {}), box({}, {}, 1), swizzle({}))", weights_[static_cast<std::size_t>(half)], channels_.text, results_.text,
                      groups_ * taps_, weight_pitch_.text, in_parentheses(results_.text), in_parentheses(weight_pitch_.text), step_, tile_.rows, 2 * step_)));
    const auto maps = input_maps(arguments);
    declare_epilogue(region_, dag_, arguments);
    const std::string input_back = arguments.pointer(input_back_, tensor::Dtype::float32, false), weight_back = arguments.pointer(weight_back_, tensor::Dtype::float32, false);
    const std::string C = arguments.number(channels_), O = arguments.number(results_), B = arguments.number(input_.shape[0]);
    std::string count, located = locate(O, B, C, arguments, count);
    const std::vector<std::string> at = windows_.result();
    const Epilogue after = epilogue(region_, dag_, at, 10, arguments);
    // Between the lines of a window's places lies the halo; a sample's lines follow another's.
    std::string place = fmt::format("        const int part_w = column % {0}, part_h = column / {0}{1}, part_b = {2}, at_b = b_start + part_b;\n", tile_.pitch,
                                    tile_.samples == 1 ? "" : fmt::format(" % {}", tile_.lines), tile_.samples == 1 ? "0" : fmt::format("column / {}", tile_.pitch * tile_.lines));
    place += fmt::format("        const int at_h = (h_start + part_h){}, at_w = (w_start + part_w){}, at_d = d_start{};\n", own_place(1), own_place(2), own_place(0));
    const std::string QD = arguments.number(window(0).outputs), QW = arguments.number(window(2).outputs), QH = arguments.number(window(1).outputs);
    place += fmt::format("        const bool there = part_w < {} && part_h < {} && part_b < {} && at_b < {} && at_h < {} && at_w < {} && at_d < {};\n", tile_.width, tile_.height, tile_.samples, B, QH, QW, QD);
    place += fmt::format("        const float back = there ? {}[at_b] : 1;\n", input_back);
    const std::string store = fmt::format("          const int at_o = group * {1} + row;\n          const float produced = held * fminf({0}[at_o], back) * fmaxf({0}[at_o], back);\n{2}          {3}\n",
                                          weight_back, O, after.statements, after.store);
    // Which taps a tile meets depends on its results, residues and group, whose numbers are the first parts of the tile's.
    const std::string kept = tile_.kept ? fmt::format("gridDim.x % (({} + {}) / {} * {}) == 0 && ({} + {}) / {} * {} <= SLOTS", O, tile_.rows - 1, tile_.rows, kinds_of_tiles(node_, windows_), C, step_ - 1, step_, met_taps()) : "false";
    file_.kernel("warpgroup_convolution.cuh", {{"name", name_}, {"parameters", arguments.parameters()}, {"rows", tile_.rows}, {"columns", tile_.columns}, {"halves", halves_},
        {"span", 2 * step_}, {"places", tile_.places}, {"copied", tile_.copied}, {"windows", tile_.windows}, {"slots", tile_.slots}, {"kept", kept}, {"ring_bytes", warpgroup_ring_bytes}, {"tiles", count}, {"locate", located},
        {"window", window_text()}, {"step_h", input_step(window(1))}, {"step_w", input_step(window(2))}, {"pitch", tile_.pitch}, {"load_inputs", load_inputs(maps, C)},
        {"load_weights", load_weights(weight_maps)}, {"place", place}, {"O", O}, {"store", store}});
    std::string tiles = fmt::format("ceil_div({}, {}) * ceil_div({}, {}) * ceil_div({}, {}) * ceil_div({}, {}) * {} * {}", results_.text, tile_.rows, wanted_text(2), tile_.width,
                                    wanted_text(1), tile_.height, input_.shape[0].text, tile_.samples, wanted_text(0), kinds_of_tiles(node_, windows_));
    const std::string kinds = fmt::format("(ceil_div({}, {}) * {})", results_.text, tile_.rows, kinds_of_tiles(node_, windows_));
    const std::string blocks = tile_.kept ? fmt::format("max(1, {} / {}) * {}", file_.machine().multiprocessors, kinds, kinds) : std::to_string(file_.machine().multiprocessors);
    file_.launch(fmt::format("{}<<<min({}, {}), 384, {}>>>({})", name_, blocks, tiles, warpgroup_block_bytes, arguments.passed()));
    double depth = static_cast<double>(round_up(channels_.values[0], step_)) * static_cast<double>(taps_);
    for (std::size_t i = 0; i < 3; ++i) depth /= residues(i) ? static_cast<double>(window(i).stride) : 1;
    const double results = volume(node_.shape) / tile_.share * static_cast<double>(round_up(results_.values[0], tile_.rows)) / static_cast<double>(results_.values[0]);
    const double bytes = 2.0 * halves_ * volume(input_.shape) + 4 * volume(node_.shape);
    if (halves_ > 1) return file_.traffic(bytes, costs::warpgroup_product(true) * 2 * depth * results);
    const double strided = residues(2) ? costs::as_operations(costs::strided_results(4 * volume(node_.shape), false)) : 0;
    file_.traffic(bytes, std::max(strided, costs::rounded_convolution * 2 * depth * results + costs::as_operations(bytes / costs::memory_rate)));
  }

  std::string own_place(std::size_t axis) const { return residues(axis) ? fmt::format(" * {} + r_{}", window(axis).stride, lower_names[axis]) : ""; }

  // The tile's channels, places and group, and how many windows it meets.
  std::string locate(const std::string& O, const std::string& B, const std::string& C, Arguments& arguments, std::string& count) const {
    std::string text = fmt::format("      const int down = ({0} + ROWS - 1) / ROWS, row_start = tile % down * ROWS;\n      int rest = tile / down;\n", O);
    count = fmt::format("(({} + ROWS - 1) / ROWS) * {}", O, kinds_of_tiles(node_, windows_));
    const auto part = [&](const std::string& name, const std::string& all, std::int64_t times) {
      text += fmt::format("      const int {0} = rest % ({1}){2};\n      rest /= {1};\n", name, all, times == 1 ? "" : fmt::format(" * {}", times));
      count += fmt::format(" * ({})", all);
    };
    // Blocks at work together have all residues of the same places: so the sectors that they share are written whole.
    text += groups_ == 1 ? "      const int group = 0;\n" : fmt::format("      const int group = rest % {0};\n      rest /= {0};\n", groups_);
    for (const std::size_t i : {2, 1, 0})
      if (residues(i)) text += fmt::format("      const int r_{0} = rest % {1};\n      rest /= {1};\n", lower_names[i], window(i).stride);
    const std::int64_t sizes[] = {1, tile_.height, tile_.width};
    for (const std::size_t i : {2, 1, 0}) {
      const std::string outputs = arguments.number(window(i).outputs);
      const std::string all = residues(i) ? fmt::format("(({} + {}) / {} + {}) / {}", outputs, window(i).stride - 1, window(i).stride, sizes[i] - 1, sizes[i])
                                          : fmt::format("(({} + {}) / {})", outputs, sizes[i] - 1, sizes[i]);
      part(fmt::format("{}_start", lower_names[i]), "(" + all + ")", sizes[i]);
    }
    part("b_start", fmt::format("(({} + {}) / {})", B, tile_.samples - 1, tile_.samples), tile_.samples);
    for (const std::size_t i : {2, 1, 0})
      if (residues(i)) text += taps_of_residue(window(i), lower_names[i], upper_names[i], fmt::format("r_{}", lower_names[i]), std::to_string(window(i).taps.values[0]), "      ");
    return text + fmt::format("      const int planes = {}, steps = ({} + {}) / {} * planes{};\n", residues(0) ? "TD" : std::to_string(window(0).taps.values[0]), C, step_ - 1, step_,
                              phases(1) * phases(2) == 1 ? "" : fmt::format(" * {}", phases(1) * phases(2)));
  }

  // One window: its channels, its tap of the first axis, and along the others how many taps it has and the input that it begins with.
  std::string window_text() const {
    std::string text = "        int part = step;\n";
    for (const std::size_t i : {2, 1})
      if (phases(i) > 1) text += fmt::format("        const int phase_{0} = part % {1};\n        part /= {1};\n", lower_names[i], phases(i));
    text += fmt::format("        const int tap_d = part % planes, c = part / planes * {};\n", step_);
    for (const std::size_t i : {1, 2}) {
      const auto& [stride, padding, dilation, outputs, taps] = window(i);
      const char *low = lower_names[i], *up = upper_names[i];
      if (residues(i)) {
        text += fmt::format("        const int from_{0} = {0}_start + add_{0} - (T{1} - 1) * {2};\n", low, up, input_step(window(i)));
      } else if (transposed() || stride == 1) {
        text += fmt::format("        constexpr int T{1} = {2};\n        const int from_{0} = {0}_start + {3};\n", low, up, taps.values[0],
                            transposed() ? padding - (taps.values[0] - 1) * dilation : -padding);
      } else {
        // Taps of a phase meet inputs a stride apart, as a residue's results meet taps: rounded down, also below zero.
        const std::int64_t rest = round_up(padding, stride) - padding;
        Window as = window(i);
        as.padding = rest == 0 ? 0 : stride - rest;
        text += taps_of_residue(as, low, up, fmt::format("phase_{}", low), std::to_string(taps.values[0]), "        ");
        text += fmt::format("        const int from_{0} = {0}_start - add_{0} - {1};\n", low, ceil_div(padding, stride) - (rest == 0 ? 0 : 1));
      }
    }
    return text;
  }

  std::string load_inputs(const std::vector<std::vector<std::string>>& maps, const std::string& C) const {
    const auto& [stride, padding, dilation, outputs, taps] = window(0);
    std::string text, phase = "0";
    if (residues(0)) text = fmt::format("          const int from_d = d_start + add_d - tap_d * {};\n", input_step(window(0)));
    else if (transposed()) text = fmt::format("          const int from_d = d_start + {} - tap_d * {};\n", padding, dilation);
    else if (stride == 1) text = fmt::format("          const int from_d = d_start + tap_d * {} - {};\n", dilation, padding);
    else
      text = fmt::format("          const int moved = tap_d * {} + {}, from_d = d_start + moved / {} - {};\n", dilation, round_up(padding, stride) - padding, stride, ceil_div(padding, stride)),
      phase = fmt::format("moved % {}", stride);
    for (const std::size_t i : {1, 2})
      if (phases(i) > 1) phase = fmt::format("({}) * {} + phase_{}", phase, phases(i), lower_names[i]);
    if (maps[0].size() > 1) text += fmt::format("          const int phase = {};\n", phase);
    for (std::size_t half = 0; half < maps.size(); ++half) {
      std::string map = maps[half].back();
      for (std::size_t i = maps[half].size() - 1; i-- > 0;) map = fmt::format("phase == {} ? {} : {}", i, maps[half][i], map);
      text += fmt::format("          load_5d(right{}, {}, bar, group * {} + c, from_w, from_h, from_d, b_start);\n", half == 0 ? "" : " + WINDOW", map, C);
    }
    return text;
  }

  // Of a transposed convolution the last tap meets the first input.
  std::string load_weights(const std::vector<std::string>& weight_maps) const {
    std::string weight = residues(0) ? fmt::format("first_d + tap_d * {}", tap_step(window(0))) : "tap_d";
    for (const std::size_t i : {1, 2}) {
      const char *low = lower_names[i], *up = upper_names[i];
      std::string tap = i == 1 ? "tap / TW" : "tap % TW";
      if (transposed()) tap = fmt::format("(T{} - 1 - {})", up, tap);
      if (residues(i) || phases(i) > 1) tap = fmt::format("first_{} + {} * {}", low, tap, tap_step(window(i)));
      weight = fmt::format("({}) * {} + {}", weight, window(i).taps.values[0], tap);
    }
    std::string text = fmt::format("            const int weights = group * {} + {};\n", taps_, weight);
    for (std::size_t half = 0; half < weight_maps.size(); ++half)
      text += fmt::format("            load_3d(left{}, {}, bar, c, row_start, weights);\n", half == 0 ? "" : " + LEFT", weight_maps[half]);
    return text;
  }

  void say_techniques() {
    file_.technique(Technique::implicit_product, fmt::format("`{}` multiplies weights by boxes of inputs whose neighbours are channels; a window of them is copied once for all taps, so the matrix of all taps never exists.", name_));
    file_.technique(Technique::tensor_cores,
                    halves_ == 1 ? fmt::format("Weights and inputs are scaled by powers of two and rounded to halves, which have TF32's precision; two warpgroups of `{}` multiply them from shared memory "
                                               "(wgmma). Where their range is too large for halves, all is computed in float32.", name_)
                                 : fmt::format("Weights and inputs are scaled by powers of two and split into two halves; three products of them in two warpgroups of `{}` (wgmma) are as exact as one in "
                                               "fp32. Where their range is too large for halves, all is computed in float32.", name_));
    file_.technique(Technique::asynchronous_copy, "A warp of its own keeps a ring of tiles in shared memory full, by tensor copies, which fill in the zeros of the padding.");
    if (kinds_of_tiles(node_, windows_) > groups_)
      file_.technique(Technique::work_skipping, "Results with equal residues by the stride go together, so that only taps which meet an input are multiplied.");
  }

  const Region& region_;
  const Dag& dag_;
  const Buffers& buffers_;
  KernelFile& file_;
  const Node &node_, &input_;
  Windows windows_;
  std::int64_t groups_;
  tensor::Extent channels_, results_, pitch_, weight_pitch_;
  int halves_;
  std::int64_t taps_, step_;
  PlaceTile tile_;
  std::string name_, weight_back_, input_back_;
  std::vector<std::string> weights_, inputs_;
};

}  // namespace

// Few channels would leave most of a step of the depth empty.
bool is_warpgroup_convolution(const Node& node, const Node& input, const Node& weights, const schedule::Machine& machine) {
  constexpr std::int64_t fewest_channels = 16, largest_window = 512;
  constexpr std::int64_t most_phases = 12;  // each half has a map of 128 bytes for each, and a kernel's parameters 4 KB
  if (!machine.warpgroup_products || !is_tiled_convolution(node) || input.dtype != tensor::Dtype::float32 || weights.dtype != tensor::Dtype::float32) return false;
  const std::int64_t groups = node.as<Convolution>().groups;
  if (input.shape[1].values[0] / groups < fewest_channels || node.shape[1].values[0] / groups < fewest_channels) return false;
  const Windows windows = windows_of(node, input);
  std::int64_t phases = 1;
  for (const Windows::Axis& axis : windows.axes) {
    if (!axis.fixed) return false;
    if (node.transposed()) continue;
    phases *= axis.window.stride;
    for (const std::int64_t value : axis.input.values)
      if (value < axis.window.stride) return false;  // the last phases would have no input
  }
  return phases <= most_phases && windows.taps().values[0] <= largest_window && convolution_tile(node, input, windows, 2, machine) && convolution_tile(node, input, windows, 1, machine);
}

void write_warpgroup_convolution(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) { WarpgroupConvolution(region, dag, buffers, file).write(); }

}  // namespace cudal1::families
