// SPDX-License-Identifier: Apache-2.0
#include "families/compose.hpp"

#include "families/families.hpp"
#include "schedule/region.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace cudal1::families {
namespace {

class Composer {
 public:
  Composer(Dag dag, KernelFile& file, std::size_t workloads)
      : dag_(std::move(dag)), file_(file), workloads_(workloads) {}

  void compose() {
    for (std::size_t i = 0; i < dag_.nodes.size(); ++i)
      if (dag_.nodes[i].is<Input>()) buffers_[static_cast<int>(i)] = dag_.nodes[i].as<Input>().buffer;
    Results held_back;
    for (std::size_t i = 0; i < dag_.outputs.size(); ++i) {
      const auto [name, id] = dag_.outputs[i];
      if (done_.count(name) != 0 || write_together(i) || write_in_place(id, name)) continue;
      materialise(id);
      held_back.emplace_back(id, name);
      done_.insert(name);
    }
    for (const auto& [id, name] : held_back) write(id, name);
  }

 private:
  const Node& node(int id) const { return dag_.at(id); }

  // A task's buffer may be given and be a result at once. It is written while its earlier elements are read only where each is read by
  // the thread that then writes it; else the result is held back in scratch memory until all is read.
  struct OverwrittenTooEarly {};

  bool given(const std::string& buffer) const {
    return std::any_of(dag_.nodes.begin(), dag_.nodes.end(), [&](const Node& each) { return each.is<Input>() && each.as<Input>().buffer == buffer; });
  }

  // Whether a node is computed from what a buffer holds before; not by way of the node `written`.
  bool depends(int id, const std::string& buffer, int written = -1) const {
    std::vector<int> left{id};
    std::set<int> seen{written};
    while (!left.empty()) {
      const int each = left.back();
      left.pop_back();
      if (!seen.insert(each).second) continue;
      if (node(each).is<Input>() && node(each).as<Input>().buffer == buffer) return true;
      left.insert(left.end(), node(each).operands.begin(), node(each).operands.end());
    }
    return false;
  }

  // Whether outputs that are not written yet, and not among `results`, need what one of these overwrites.
  bool read_later(const Results& results) const {
    return std::any_of(results.begin(), results.end(), [&](const auto& result) {
      const auto& [id, name] = result;
      return given(name) && std::any_of(dag_.outputs.begin(), dag_.outputs.end(), [&, id = id, &name = name](const auto& other) {
        const bool here = std::any_of(results.begin(), results.end(), [&](const auto& each) { return each.second == other.first; });
        return !here && done_.count(other.first) == 0 && depends(other.second, name, id);
      });
    });
  }

  bool write_in_place(int id, const std::string& name) {
    if (read_later({{id, name}})) return false;
    std::optional<std::pair<Composer, KernelFile>> before;
    if (given(name)) before.emplace(*this, file_);
    try {
      write(id, name);
    } catch (const OverwrittenTooEarly&) {
      auto& [composer, file] = before.value();
      dag_ = composer.dag_, buffers_ = composer.buffers_, done_ = composer.done_, depth_ = composer.depth_;
      file_ = file;
      return false;
    }
    buffers_.emplace(id, name);
    done_.insert(name);
    return true;
  }

  bool overwrites_too_early(const Region& region) const {
    return std::any_of(region.roots.begin(), region.roots.end(), [&](const Region::Root& root) { return given(root.buffer) && overwrites_too_early(region, root); });
  }

  bool overwrites_too_early(const Region& region, const Region::Root& root) const {
    bool read = false;
    for (const Instance& instance : region.instances) {
      if (!instance.leaf || instance.buffer != root.buffer) continue;
      if (instance.indirect >= 0 || !(instance.strides == root.strides) || !(instance.offset == root.offset)) return true;
      read = true;
    }
    // All threads of a row read what one of them writes.
    if (region.producer < 0) return read && region.reduces && !writes_elements(region);
    const auto& operands = node(region.producer).operands;
    if (std::any_of(operands.begin(), operands.end(), [&](int operand) { return depends(operand, root.buffer) && (buffers_.count(operand) == 0 || buffers_.at(operand) == root.buffer); })) return true;
    // Warpgroups may have a second kernel for some results, and a scan reads its elements as it goes.
    const bool once = file_.variant().products == Variant::Products::fp32 || file_.variant().products == Variant::Products::tensor_cores;
    return read && !(node(region.producer).is<Product>() && once);
  }

  static std::set<std::string> reads(const Region& region) {
    std::set<std::string> result;
    for (const Instance& instance : region.instances)
      if (instance.leaf && !instance.buffer.empty()) result.insert(instance.buffer);
    return result;
  }

  // Outputs of one shape that read the same tensor, such as several norms of it, become one kernel.
  bool write_together(std::size_t first) {
    if (!file_.variant().fused) return false;
    Results results{{dag_.outputs[first].second, dag_.outputs[first].first}};
    Growth together = grow(dag_, results, buffers_, true, file_.variant().cut, workloads_);
    if (!together.region || together.region->producer >= 0) return false;
    for (std::size_t i = first + 1; i < dag_.outputs.size(); ++i) {
      const auto [name, id] = dag_.outputs[i];
      if (done_.count(name) != 0 || buffers_.count(id) != 0 || !(node(id).shape == node(results[0].first).shape)) continue;
      const Growth alone = grow(dag_, {{id, name}}, buffers_, true, file_.variant().cut, workloads_);
      if (!alone.region) continue;
      const std::set<std::string> mine = reads(*alone.region), theirs = reads(*together.region);
      if (std::none_of(mine.begin(), mine.end(), [&](const auto& buffer) { return theirs.count(buffer) != 0; })) continue;
      results.emplace_back(id, name);
      Growth more = grow(dag_, results, buffers_, true, file_.variant().cut, workloads_);
      if (more.region && more.region->producer < 0) together = std::move(more);
      else results.pop_back();
    }
    if (results.size() == 1 || overwrites_too_early(*together.region) || read_later(results)) return false;
    collapse(*together.region, dag_);
    const Walk walk = walk_of(*together.region, dag_);
    if (walk == Walk::pointwise && is_transposition(*together.region)) return false;
    write_row_kernel(*together.region, dag_, walk, file_);
    for (const auto& [id, name] : results) {
      buffers_.emplace(id, name);
      done_.insert(name);
    }
    return true;
  }

  void materialise(int id) {
    if (++depth_ > 200) throw NotCovered{"the line has more steps than the playbook plans"};
    // Views of a computed node share its memory.
    const std::string name = file_.new_scratch("S", tensor::name(node(id).dtype), node(id).shape);
    write(id, name);
    buffers_[id] = name;
  }

  // A part of a larger buffer.
  struct Placement {
    tensor::Shape strides;
    tensor::Extent offset;
  };

  // Every operand goes to its own part of the result.
  void write_cat(int id, const std::string& buffer) {
    const Node cat = node(id);
    const auto dim = static_cast<std::size_t>(cat.as<Cat>().dim);
    const std::size_t assignments = cat.shape[dim].values.size();
    tensor::Extent start;
    for (int operand : cat.operands) {
      if (node(operand).is<Attention>() || node(operand).is<WindowSums>() || node(operand).is<Cat>()) have(operand);
      Placement placement{strides_of(cat.shape, assignments), {}};
      if (!start.values.empty())
        placement.offset = times(start, product_of(cat.shape, dim + 1, cat.shape.size(), assignments));
      write(operand, buffer, &placement);
      const tensor::Extent& extent = node(operand).shape[dim];
      start = start.values.empty() ? extent : plus(start, extent);
    }
  }

  void write(int id, const std::string& buffer, const Placement* placement = nullptr) {
    while (placement == nullptr && node(id).is<Reshape>() && buffers_.count(id) == 0 &&
           buffers_.count(node(id).operands[0]) == 0) {
      const int operand = node(id).operands[0];
      write(operand, buffer);
      buffers_[operand] = buffer;
      return;
    }
    if (buffers_.count(id) == 0) {
      const bool by_itself = node(id).is<Attention>() || node(id).is<WindowSums>() || (placement == nullptr && is_warpgroup_attention(id, dag_, file_));
      if (by_itself && given(buffer) && depends(id, buffer)) throw OverwrittenTooEarly{};
      if (node(id).is<Attention>()) {
        for (std::size_t i = 0; i < 3; ++i) have(node(id).operands[i]);
        return write_attention(id, buffer, dag_, buffers_, file_);
      }
      if (placement == nullptr && is_warpgroup_attention(id, dag_, file_)) {
        const int attention = node(id).operands[0];
        for (std::size_t i = 0; i < 3; ++i) have(cast_from_half(dag_, node(attention).operands[i]));
        return write_warpgroup_attention(id, buffer, dag_, buffers_, file_);
      }
      if (node(id).is<WindowSums>()) {
        have(node(id).operands[0]);
        return write_window_sums(id, buffer, dag_, buffers_, file_);
      }
      if (node(id).is<Cat>()) return write_cat(id, buffer);
    }
    for (int tries = 0; tries < 200; ++tries) {
      Growth growth = grow(dag_, {{id, buffer}}, buffers_, file_.variant().fused, file_.variant().cut, workloads_);
      if (!growth.region) {
        if (growth.needs == id) throw NotCovered{fmt::format("no family covers {}", describe(node(id)))};
        if (file_.variant().split == Variant::Split::totals && total(id, growth.needs)) continue;
        materialise(growth.needs);
        continue;
      }
      if (placement != nullptr) {
        Region::Root& root = growth.region->roots[0];
        for (std::size_t i = 0; i < placement->strides.size(); ++i)
          if (!is_zero(root.strides[i])) root.strides[i] = placement->strides[i];
        root.offset = placement->offset;
      }
      if (overwrites_too_early(*growth.region)) throw OverwrittenTooEarly{};
      if (growth.region->producer >= 0) return write_producer(*growth.region, dag_, buffers_, file_);
      collapse(*growth.region, dag_);
      const Walk walk = walk_of(*growth.region, dag_);
      if (walk == Walk::pointwise) {
        if (is_transposition(*growth.region)) write_transposition(*growth.region, dag_, file_);
        else write_row_kernel(*growth.region, dag_, walk, file_);
        return;
      }
      if (file_.variant().splits() && split(*growth.region, walk)) continue;
      return write_row_kernel(*growth.region, dag_, walk, file_);
    }
    throw NotCovered{"the line cannot be cut into kernels"};
  }

  void have(int id) {
    if (buffers_.count(id) == 0) materialise(id);
  }

  // The region's reductions, when none waits for another and each can be finished from parts.
  std::vector<int> divisible(const Region& region) const {
    std::vector<int> result;
    for (const Instance& instance : region.instances) {
      if (instance.leaf || !node(instance.node).is<Reduce>()) continue;
      if (instance.phase != 1 || node(instance.node).function().rfind("arg", 0) == 0) return {};
      if (!(node(instance.node).shape == node(result.empty() ? instance.node : result[0]).shape)) return {};
      if (std::find(result.begin(), result.end(), instance.node) == result.end()) result.push_back(instance.node);
    }
    return result;
  }

  // Whether rows are read again for what is written, so that one kernel should hold them.
  static bool writes_elements(const Region& region) {
    return std::any_of(region.roots.begin(), region.roots.end(), [&](const Region::Root& root) {
      for (std::size_t i = 0; i < root.strides.size(); ++i)
        if (region.element[i] && !is_zero(root.strides[i])) return true;
      return false;
    });
  }

  // Gives the first of several reductions kernels of its own.
  bool set_apart(const Region& region) {
    std::vector<int> reduces;
    for (const Instance& instance : region.instances)
      if (!instance.leaf && node(instance.node).is<Reduce>()) reduces.push_back(instance.node);
    if (reduces.size() > 1) materialise(reduces.front());
    return reduces.size() > 1;
  }

  // Turns the region's reductions into parts, written here, and reductions of the parts.
  bool split(const Region& region, Walk walk) {
    const std::vector<int> reduces = divisible(region);
    const int splits = splits_of(region, walk, file_.machine());
    if (splits <= 1) return false;
    if (reduces.empty() || (reduces.size() > 1 && writes_elements(region))) return file_.variant().split == Variant::Split::apart && set_apart(region);
    Results results;
    for (int reduce : reduces) results.emplace_back(reduce, "");
    Growth parts = grow(dag_, results, buffers_, true, file_.variant().cut, workloads_);
    if (!parts.region) return false;
    collapse(*parts.region, dag_);
    for (Region::Root& root : parts.region->roots) root.buffer = file_.unique("S");
    write_row_kernel(*parts.region, dag_, walk, file_, splits);
    for (std::size_t i = 0; i < reduces.size(); ++i)
      finish_from_parts(reduces[i], parts.region->roots[i].buffer, literal(splits, region.assignments));
    return true;
  }

  // What is reduced over all rows of a kernel that has yet to be written, `needed`, is reduced by its blocks as far as
  // each walks rows, so that only a part per block goes through memory.
  bool total(int id, int needed) {
    Buffers pretended = buffers_;
    pretended[needed] = "";
    const Growth whole = grow(dag_, {{id, ""}}, pretended, true, file_.variant().cut, workloads_);
    if (needed == file_.variant().cut || !whole.region || !whole.region->reduces || !is_one(whole.region->rows())) return false;
    const std::vector<int> reduces = divisible(*whole.region);
    Results results;
    for (int reduce : reduces) {
      const int operand = node(reduce).operands[0];
      if (operand == file_.variant().cut || !(node(operand).shape == node(node(reduces[0]).operands[0]).shape)) return false;
      results.emplace_back(operand, "");
    }
    if (results.empty()) return false;
    Growth lines = grow(dag_, results, buffers_, true, file_.variant().cut, workloads_);
    if (!lines.region || !lines.region->reduces) return false;
    collapse(*lines.region, dag_);
    if (walk_of(*lines.region, dag_) != Walk::rows) return false;
    for (Region::Root& root : lines.region->roots) root.buffer = file_.unique("S");
    const tensor::Extent blocks = write_total_kernel(*lines.region, dag_, reduces, file_);
    for (std::size_t i = 0; i < reduces.size(); ++i) finish_from_parts(reduces[i], lines.region->roots[i].buffer, blocks);
    return true;
  }

  // From here on a reduction takes `count` parts, one whole result after the other.
  void finish_from_parts(int reduce, const std::string& buffer, const tensor::Extent& count) {
    Node parts{Input{buffer}, {}, node(reduce).dtype, node(reduce).shape};
    parts.shape.insert(parts.shape.begin(), count);
    file_.scratch(buffer, tensor::name(parts.dtype), parts.shape);
    Node total = node(reduce);
    total.shape = parts.shape;
    total.shape[0] = literal(1, count.values.size());
    total.operands = {dag_.add(parts)};
    std::get<Reduce>(total.operation).dims = {0};
    buffers_[total.operands[0]] = buffer;
    const int sum = dag_.add(total);
    Node& view = dag_.at(reduce);
    view.operation = Reshape{};
    view.operands = {sum};
  }

  Dag dag_;
  KernelFile& file_;
  std::size_t workloads_;
  Buffers buffers_;
  std::set<std::string> done_;  // outputs that are written
  int depth_ = 0;
};

}  // namespace

tl::expected<KernelFile, std::string> compose(Dag dag, const Variant& variant, const schedule::Machine& machine, const Names& names,
                                            std::size_t workloads) {
  KernelFile file(variant, machine, names.scalars, names.all);
  try {
    Composer(std::move(dag), file, workloads).compose();
  } catch (const NotCovered& refusal) {
    return tl::unexpected(refusal.reason);
  }
  return file;
}

}  // namespace cudal1::families
