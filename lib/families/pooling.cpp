// SPDX-License-Identifier: Apache-2.0
#include "families/costs.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/windows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

std::int64_t span(const Windows::Axis& axis) { return (axis.window.taps.values[0] - 1) * axis.window.dilation + 1; }

// What stands before a thread's first window in its first pack, and how many packs its windows take.
struct Packs {
  std::int64_t before, count;
};
Packs packs_of(const Windows::Axis& w) {
  const std::int64_t before = (w.window.padding + 3) / 4 * 4;
  return {before, (before - w.window.padding + 3 * w.window.stride + span(w) + 3) / 4};
}

}  // namespace

bool makes_strips(const Node& node, const Node& input) {
  const Windows windows = windows_of(node, input);
  const Windows::Axis &d = windows.axes[0], &h = windows.axes[1], &w = windows.axes[2];
  if (!d.fixed || !h.fixed || !w.fixed) return false;
  if (node.is<Convolution>()) {
    const auto one_channel = [&](const tensor::Extent& channels) { return channels.values == literal(node.as<Convolution>().groups, channels.values.size()).values; };
    if (node.transposed() || d.dim >= 0 || !one_channel(input.shape[1]) || !one_channel(node.shape[1])) return false;
    if (h.window.taps.values[0] * w.window.taps.values[0] > 49) return false;
  }
  // Beyond that, unrolling makes more code than it saves work.
  return packs_of(w).count <= 16 && d.window.taps.values[0] * span(h) * w.window.taps.values[0] <= 256;
}

namespace {

// One kernel in which a thread makes a strip of neighbouring results.
class StripWriter {
 public:
  StripWriter(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file)
      : region_(region), dag_(dag), buffers_(buffers), file_(file), node_(dag.at(region.producer)), input_(dag.at(node_.operands[0])),
        windows_(windows_of(node_, input_)), arguments_(file.scalars()) {}

  void write() {
    choose_tunables();
    const std::string x = arguments_.pointer(buffers_.at(node_.operands[0]), input_.dtype, false);
    const std::string kernel = weighted_ ? arguments_.pointer(buffers_.at(node_.operands[1]), node_.dtype, false) : "";
    declare_epilogue(region_, dag_, arguments_);
    const tensor::Extent planes = product_of(node_.shape, 0, front_, region_.assignments);
    set("coordinates", coordinates({node_.shape.begin(), node_.shape.begin() + static_cast<std::ptrdiff_t>(front_)}, "plane", at_, arguments_));
    spell_epilogue();
    const std::string H = arguments_.number(h_.input), W = arguments_.number(w_.input);
    spell_planes(H, W);
    const tensor::Extent results = product_of(node_.shape, 0, node_.shape.size(), region_.assignments);
    const std::string count = arguments_.number(planes),
                      volume = arguments_.number(product_of(input_.shape, front_, node_.shape.size(), region_.assignments)),
                      OH = arguments_.number(h_.window.outputs), OW = arguments_.number(w_.window.outputs);
    if (!weighted_) file_.helper("operations.cuh");
    set("depth", deep_ ? fmt::format("  const int slabs = ({0} + {1} - 1) / {1}, slab = place / {2} / strips % slabs;\n", arguments_.number(d_.window.outputs), depths_, columns_ ? OW : "chunks") : "");
    spell_rows(W, kernel);
    const std::string index = index_type(*std::max_element(results.values.begin(), results.values.end()));
    set({{"index", index}, {"to_index", conversion(index)}, {"planes", count}, {"volume", volume}, {"X", x}, {"H", H}, {"W", W}, {"OH", OH},
         {"OW", OW}, {"parameters", arguments_.parameters()}, {"forwarded", arguments_.forwarded()}});
    const std::string_view code = columns_ ? "strip_columns.cuh" : "strips.cuh";
    file_.kernel(code, cuda_code::holes_in(code, holes_));
    launch(planes);
    account(static_cast<double>(results.values[0]));
  }

 private:
  template <typename Value>
  void set(const char* name, const Value& value) { holes_.emplace_back(name, value); }
  void set(std::initializer_list<cuda_code::Hole> holes) { holes_.insert(holes_.end(), holes); }

  void choose_tunables() {
    using Values = std::vector<std::int64_t>;
    name_ = file_.unique(weighted_ ? "depthwise_convolution" : "pool");
    threads_ = file_.tune("THREADS", {128, 256});
    const bool overlap = span(h_) > h_.window.stride;
    rows_ = file_.tune("OUT_ROWS", h_.dim < 0                          ? Values{1}
                                   : overlap && columns_               ? Values{4, 8, 2}
                                   : overlap && h_.window.stride == 1  ? Values{4, 2, 1}
                                   : overlap                           ? Values{1, 2, 4}
                                                                       : Values{1, 2});
    const bool planes_overlap = span(d_) > d_.window.stride && d_.window.dilation == 1;
    depths_ = deep_ && planes_overlap ? file_.tune("OUT_PLANES", {2, 1}) : "1";
    while (lanes_ < 32 && lanes_ * 4 < w_.window.outputs.values[0]) lanes_ *= 2;
    set({{"name", name_}, {"threads", threads_}, {"rows", rows_}, {"lanes", lanes_}, {"neutral", neutral_}, {"combine", combine_}});
    set("combines", weighted_ ? "" : fmt::format(" It combines along a row first, then the rows{}.", deep_ ? ", then the planes" : ""));
    set("and_planes", deep_ ? fmt::format(" of {} planes", depths_) : "");
    set("per_depth", deep_ ? " / slabs" : "");
  }

  void spell_epilogue() {
    at_.resize(node_.shape.size());
    if (d_.dim >= 0) at_[static_cast<std::size_t>(d_.dim)] = "at_d";
    if (h_.dim >= 0) at_[static_cast<std::size_t>(h_.dim)] = "at_h";
    at_[static_cast<std::size_t>(w_.dim)] = "at_w";
    std::string divide;
    const std::size_t indent = columns_ ? 4 : 6;
    if (!most_ && !weighted_) {
      const std::string by = divisor(node_, windows_, at_, indent, arguments_, divide);
      divide += fmt::format("{}produced {};\n", std::string(indent, ' '), divide.empty() ? fmt::format("*= 1 / {}", by) : fmt::format("/= {}", by));
    }
    const Epilogue after = epilogue(region_, dag_, at_, indent, arguments_);
    set({{"divide", divide}, {"epilogue", after.statements}, {"store", after.store}});
  }

  // What a thread holds of its results; of several planes it makes one after the other.
  void spell_planes(const std::string& H, const std::string& W) {
    const std::string OD = arguments_.number(d_.window.outputs);
    const int width = columns_ ? 1 : 4;
    const std::string of_plane = fmt::format(
        "  float held[{0}][{2}];\n#pragma unroll\n  for (int j = 0; j < {0}; ++j)\n#pragma unroll\n"
        "    for (int i = 0; i < {2}; ++i) held[j][i] = {1};\n",
        rows_, neutral_, width);
    if (!deep_) {
      for (const char* hole : {"open", "close", "each_plane", "end_plane"}) set(hole, "");
      set("held", of_plane);
      set("gone", columns_ ? "" : "!live");
      row_ = fmt::format("size_t(h0 + r) * {}", W);
      return;
    }
    set("held", fmt::format("  float planes[{0}][{1}][{3}];\n#pragma unroll\n  for (int e = 0; e < {0}; ++e)\n#pragma unroll\n"
                            "    for (int j = 0; j < {1}; ++j)\n#pragma unroll\n      for (int i = 0; i < {3}; ++i) planes[e][j][i] = {2};\n",
                            depths_, rows_, neutral_, width));
    set("open", fmt::format("#pragma unroll\n  for (int a = 0; a < ({0} - 1) * {1} + {2}; a += {3}) {{\n  const int d = slab * ({0} * {1}) - {4} + a;\n"
                            "  if (unsigned(d) >= unsigned({5})) continue;\n",
                            depths_, d_.window.stride, span(d_), d_.window.dilation, d_.window.padding, arguments_.number(d_.input)) + of_plane);
    set("close", fmt::format("#pragma unroll\n  for (int e = 0; e < {0}; ++e) {{\n    if (a < e * {1} || a - e * {1} >= {2}) continue;\n#pragma unroll\n"
                             "    for (int j = 0; j < {3}; ++j)\n#pragma unroll\n      for (int i = 0; i < {5}; ++i) planes[e][j][i] = {4}(planes[e][j][i], "
                             "held[j][i]);\n  }}\n  }}\n",
                             depths_, d_.window.stride, span(d_), rows_, combine_, width));
    set("each_plane", fmt::format("#pragma unroll\n  for (int e = 0; e < {0}; ++e) {{\n  const int at_d = slab * {0} + e;\n  const auto& held = planes[e];\n{1}",
                                  depths_, columns_ ? "" : "  if (e > 0) __syncwarp();\n"));
    set("end_plane", "  }\n");
    set("gone", fmt::format("{}at_d >= {}{}", columns_ ? "" : "!live || ", OD, columns_ ? " || " : ""));
    row_ = fmt::format("(size_t(d) * {} + h0 + r) * {}", H, W);
  }

  // The windows' rows, and what a thread makes of each.
  void spell_rows(const std::string& W, const std::string& kernel) {
    const Packs packs = packs_of(w_);
    for (const auto& [axis, letter] : {std::pair{&h_, 'h'}, {&w_, 'w'}}) {
      const auto hole = [of = letter](const char* name) { return fmt::format("{}_{}", name, of); };
      const auto& [stride, padding, dilation, outputs, taps] = axis->window;
      set({{hole("stride"), stride}, {hole("dilation"), dilation}, {hole("taps"), taps.values[0]}, {hole("padding"), padding}});
    }
    set({{"span_h", span(h_)}, {"packs", packs.count}, {"first", packs.before - w_.window.padding}, {"before_w", packs.before},
         {"step_w", 4 * w_.window.stride}});
    // Whether a window may reach beyond the input's columns.
    bool beyond = w_.window.padding != 0;
    for (std::size_t i = 0; i < w_.input.values.size(); ++i)
      beyond = beyond || (w_.window.outputs.values[i] - 1) * w_.window.stride + span(w_) > w_.input.values[i];
    set("inside", beyond ? fmt::format(" && unsigned(w) < unsigned({})", W) : "");
    set("place", columns_ ? "c" : fmt::format("FIRST + i * {} + c * {}", w_.window.stride, w_.window.dilation));
    set("width", columns_ ? 1 : 4);
    set("row", row_);
    const auto of_row = [&](std::string_view code) { return cuda_code::device_code(code, cuda_code::holes_in(code, holes_)); };
    set("gather", !weighted_ ? of_row(columns_ ? "pool_columns.cuh" : "pool_row.cuh") : (columns_ ? of_row("load_columns.cuh") : "") + of_row("weighted_row.cuh"));
    set("weights", !weighted_ ? "" : fmt::format(
        "  float weights[{0}];\n#pragma unroll\n  for (int k = 0; k < {0}; ++k) weights[k] = {1}[size_t({2}) * {0} + k];\n",
        taps_, kernel, fmt::format(fmt::runtime(columns_ ? "plane % {}" : "live ? plane % {} : 0"), arguments_.number(node_.shape[1]))));
  }

  void launch(const tensor::Extent& planes) {
    const std::string across = columns_ ? in_parentheses(w_.window.outputs.text) : fmt::format("ceil_div({}, {}) * {}", w_.window.outputs.text, lanes_ * 4, lanes_);
    file_.launch(fmt::format("{0}<<<ceil_div({1} * {2} * ceil_div({3}, {4}) * {5}, {6}), {6}>>>({7})", name_, in_parentheses(planes.text),
                             depths_ == "1" ? in_parentheses(d_.window.outputs.text) : fmt::format("ceil_div({}, {})", d_.window.outputs.text, depths_),
                             h_.window.outputs.text, rows_, across, threads_, arguments_.passed()));
  }

  void account(double results) {
    const double bytes = 4 * results;
    file_.traffic(bytes + 4 * algebra::volume(input_.shape), weighted_ ? bytes / 2 * static_cast<double>(taps_) : 0,
                  aligned_ ? 1 : columns_ ? costs::unaligned_by_columns : costs::unaligned_strips);
    if (columns_)
      file_.technique(Technique::coalesced_access, fmt::format("Neighbouring threads of `{}` make neighbouring columns, as its rows are not aligned.", name_));
    else
      file_.technique(Technique::vectorised_access, fmt::format("`{}` reads 16 bytes per access where rows are aligned.", name_));
    file_.technique(Technique::register_tiling,
                    fmt::format("A thread of `{}` makes {} rows of {}{}, so that overlapping windows share what it has "
                                "loaded{}.",
                                name_, rows_, columns_ ? "one result" : "four results", depths_ == "1" ? "" : fmt::format(" in {} planes", depths_),
                                weighted_ ? "" : ", and combines along rows before it combines rows"));
  }

  const Region& region_;
  const Dag& dag_;
  const Buffers& buffers_;
  KernelFile& file_;
  const Node &node_, &input_;
  const Windows windows_;
  Arguments arguments_;
  const Windows::Axis &d_ = windows_.axes[0], &h_ = windows_.axes[1], &w_ = windows_.axes[2];
  const std::size_t front_ = node_.shape.size() - node_.windows().size();
  const bool most_ = node_.is<Pool>() && node_.as<Pool>().largest, weighted_ = node_.is<Convolution>(), deep_ = d_.dim >= 0;
  const bool aligned_ = w_.input.values[0] % 4 == 0, columns_ = file_.variant().windows == Variant::Windows::by_columns && !aligned_;
  const std::string neutral_ = most_ ? "__int_as_float(0xff800000)" : "0.0f", combine_ = most_ ? "Larger()" : "Sum()";
  const std::int64_t taps_ = h_.window.taps.values[0] * w_.window.taps.values[0];
  std::string name_, threads_, rows_, depths_, row_;
  std::int64_t lanes_ = 1;
  std::vector<std::string> at_;
  std::vector<cuda_code::Hole> holes_;
};

}  // namespace

// Bound by memory: every input of a pool, or of a convolution of single channels, is loaded once per strip of rows, sixteen
// bytes at a time.
void write_strips(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  if (dag.at(dag.at(region.producer).operands[0]).dtype != tensor::Dtype::float32) throw NotCovered{"windows are covered for float32 only"};
  StripWriter(region, dag, buffers, file).write();
}

}  // namespace cudal1::families
