// SPDX-License-Identifier: Apache-2.0
#include "schedule/region.hpp"

#include <algorithm>

namespace cudal1::schedule {
namespace {

// Whether a scan can compute its operand when it loads it: neighbouring threads read neighbours, or the same.
bool scans_in_passing(const Node& scan, const Region& operand) {
  if (operand.reduces || operand.producer >= 0) return false;
  std::size_t last = scan.shape.size() - 1;
  while (last > 0 && is_one(scan.shape[last])) --last;
  return std::all_of(operand.instances.begin(), operand.instances.end(), [&](const Instance& instance) {
    return !instance.leaf || instance.buffer.empty() || is_zero(instance.strides[last]) || is_one(instance.strides[last]);
  });
}

using Map = std::vector<Place>;

// Thrown inside grow() alone.
struct Needs {
  int node;
};

class Grower {
 public:
  Grower(const Dag& dag, const Results& results, const Buffers& buffers, bool fuse, int cut)
      : dag_(dag), results_(results), buffers_(buffers), fuse_(fuse), cut_(cut) {}

  Region grow(std::size_t workloads) {
    const Node& root = dag_.nodes[static_cast<std::size_t>(results_[0].first)];
    region_.space = root.shape;
    region_.assignments = root.shape.empty() ? 1 : root.shape.front().values.size();
    for (const Node& node : dag_.nodes)
      if (!node.shape.empty()) region_.assignments = std::max(region_.assignments, node.shape.front().values.size());
    region_.workloads = workloads;
    root_rank_ = root.shape.size();
    region_.element.assign(region_.space.size(), 0);
    Map map;
    for (std::size_t i = 0; i < root.shape.size(); ++i) map.push_back({static_cast<int>(i), false});
    for (const auto& [id, buffer] : results_) {
      const int instance = visit(id, map);
      region_.roots.push_back({instance, buffer, strides(root.shape, map), {}});
    }
    finish();
    return std::move(region_);
  }

 private:
  int visit(int id, const Map& map) {
    const Node& node = dag_.nodes[static_cast<std::size_t>(id)];
    if (const auto found = buffers_.find(id); found != buffers_.end()) return leaf(id, found->second, node.shape, map);
    if (!fuse_ && id != results_[0].first && (node.kind == Kind::pointwise || node.kind == Kind::reduce) &&
        node.function != "identity")
      throw Needs{id};
    if (id == cut_ && std::none_of(results_.begin(), results_.end(), [&](const auto& result) { return result.first == id; })) throw Needs{id};
    switch (node.kind) {
      case Kind::number: return add({id, true, "", {}, {}, {}, Instance::Level::line, 0});
      case Kind::coordinate: {
        Instance instance{
            id, true, "", {}, std::vector<tensor::Extent>(region_.space.size(), zero()), {}, Instance::Level::line, 0};
        for (std::size_t i = 0; i < map.size(); ++i)
          if (map[i].dim >= 0 && !map[i].broadcast && !is_one(node.shape[i]))
            instance.strides[static_cast<std::size_t>(map[i].dim)] = literal(1, region_.assignments);
        return add(std::move(instance));
      }
      case Kind::pointwise: return pointwise(id, map);
      case Kind::permute: {
        Map operand(map.size());
        for (std::size_t i = 0; i < map.size(); ++i) operand[static_cast<std::size_t>(node.dims[i])] = map[i];
        return visit(node.operands[0], operand);
      }
      case Kind::reshape: return reshape(id, map);
      case Kind::reduce: return reduce(id, map);
      case Kind::product:
      case Kind::convolution:
      case Kind::pool:
      case Kind::scan:
      case Kind::gather:
        if (!region_.reduces && region_.producer < 0 && identity(map)) {
          region_.producer = id;
          for (int operand : node.operands) {
            if (node.kind == Kind::product) product_operand(operand);
            else if (buffers_.count(operand) == 0 && !in_passing(node, operand)) throw Needs{operand};
          }
          return add({id, true, "", {}, {}, {}, Instance::Level::element, 0});
        }
        throw Needs{id};
      case Kind::slice: return slice(id, map);
      default: throw Needs{id};
    }
  }

  bool in_passing(const Node& scan, int operand) const {
    if (!fuse_ || operand == cut_ || scan.kind != Kind::scan) return false;
    const Growth growth = schedule::grow(dag_, {{operand, ""}}, buffers_, fuse_, cut_, region_.workloads);
    if (!growth.region && growth.needs == cut_) throw Needs{cut_};
    return growth.region && scans_in_passing(scan, *growth.region);
  }

  // A factor of a product is read from memory, at most through a swap of its last two dimensions.
  void product_operand(int id) {
    const Node& node = dag_.nodes[static_cast<std::size_t>(id)];
    if (buffers_.count(id) != 0) return;
    if (node.kind == Kind::permute) {
      const std::size_t rank = node.dims.size();
      bool swap = rank >= 2 && node.dims[rank - 1] == static_cast<int>(rank) - 2 &&
                  node.dims[rank - 2] == static_cast<int>(rank) - 1;
      for (std::size_t i = 0; swap && i + 2 < rank; ++i) swap = node.dims[i] == static_cast<int>(i);
      if (swap) {
        if (buffers_.count(node.operands[0]) == 0) throw Needs{node.operands[0]};
        return;
      }
    }
    throw Needs{id};
  }

  bool identity(const Map& map) const {
    if (map.size() != root_rank_) return false;
    for (std::size_t i = 0; i < map.size(); ++i)
      if (map[i].dim != static_cast<int>(i) || map[i].broadcast) return false;
    return true;
  }

  Map operand_map(const Node& node, const Node& operand, const Map& map) const {
    Map result(operand.shape.size());
    const std::size_t offset = node.shape.size() - operand.shape.size();
    for (std::size_t j = 0; j < result.size(); ++j) {
      result[j] = map[j + offset];
      if (is_one(operand.shape[j]) && !is_one(node.shape[j + offset])) result[j].broadcast = true;
    }
    return result;
  }

  int pointwise(int id, const Map& map) {
    const Node& node = dag_.nodes[static_cast<std::size_t>(id)];
    Instance instance{id, false, "", {}, {}, {}, Instance::Level::line, 0};
    for (int operand : node.operands)
      instance.operands.push_back(
          visit(operand, operand_map(node, dag_.nodes[static_cast<std::size_t>(operand)], map)));
    return add(std::move(instance));
  }

  int reshape(int id, const Map& map) {
    const Node& node = dag_.nodes[static_cast<std::size_t>(id)];
    int source = node.operands[0];
    while (dag_.nodes[static_cast<std::size_t>(source)].kind == Kind::reshape && buffers_.count(source) == 0)
      source = dag_.nodes[static_cast<std::size_t>(source)].operands[0];
    const Node& operand = dag_.nodes[static_cast<std::size_t>(source)];
    if (const auto found = buffers_.find(source); found != buffers_.end())
      return leaf(id, found->second, node.shape, map);
    // Only dimensions of extent 1 come or go: a matter of indices.
    Map result(operand.shape.size());
    std::size_t i = 0;
    for (std::size_t j = 0; j < operand.shape.size(); ++j) {
      if (is_one(operand.shape[j])) {
        if (i < node.shape.size() && is_one(node.shape[i])) result[j] = map[i++];
        continue;
      }
      while (i < node.shape.size() && is_one(node.shape[i])) ++i;
      if (i == node.shape.size() || !(node.shape[i] == operand.shape[j])) throw Needs{source};
      result[j] = map[i++];
    }
    while (i < node.shape.size() && is_one(node.shape[i])) ++i;
    if (i != node.shape.size()) throw Needs{source};
    return visit(source, result);
  }

  // Memory read from elsewhere and in other steps.
  int slice(int id, const Map& map) {
    const Node& node = dag_.nodes[static_cast<std::size_t>(id)];
    const int source = node.operands[0];
    const auto found = buffers_.find(source);
    if (found == buffers_.end()) throw Needs{source};
    tensor::Shape steps = strides_of(dag_.nodes[static_cast<std::size_t>(source)].shape, region_.assignments);
    tensor::Extent offset = literal(0, region_.assignments);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!is_zero(node.starts[i]) && !is_zero(steps[i])) {
        const tensor::Extent start = times(node.starts[i], steps[i]);
        offset = is_zero(offset) ? start : plus(offset, start);
      }
      if (node.dims[i] != 1) steps[i] = times(steps[i], literal(node.dims[i], region_.assignments));
    }
    Instance instance{id, true, found->second, {}, {}, {}, Instance::Level::line, 0};
    instance.strides.assign(region_.space.size(), zero());
    for (std::size_t i = 0; i < node.shape.size(); ++i) {
      if (map[i].dim < 0 || map[i].broadcast || is_one(node.shape[i])) continue;
      tensor::Extent& stride = instance.strides[static_cast<std::size_t>(map[i].dim)];
      stride = is_zero(stride) ? steps[i] : plus(stride, steps[i]);
    }
    if (!is_zero(offset)) instance.offset = offset;
    return add(std::move(instance));
  }

  // Where to cut below a reduction that does not fit: right under the outer one when that has as few elements to read
  // there, so that everything between is computed while the inner one's line is at hand.
  int cut(int inner) const {
    if (reduced_ < 0 || buffers_.count(reduced_) != 0) return inner;
    const auto count = [&](int id) {
      const tensor::Shape& shape = dag_.nodes[static_cast<std::size_t>(id)].shape;
      return product_of(shape, 0, shape.size(), region_.assignments);
    };
    return count(reduced_) == count(inner) ? reduced_ : inner;
  }

  int reduce(int id, const Map& map) {
    const Node& node = dag_.nodes[static_cast<std::size_t>(id)];
    const Node& operand = dag_.nodes[static_cast<std::size_t>(node.operands[0])];
    if (region_.producer >= 0) throw Needs{cut(id)};
    // Results that many lines share are computed once, in a kernel of their own.
    std::vector<char> used(region_.space.size(), 0);
    for (std::size_t i = 0; i < map.size(); ++i)
      if (map[i].dim >= 0 && !map[i].broadcast) used[static_cast<std::size_t>(map[i].dim)] = 1;
    Map inner = map;
    std::vector<int> dims;
    for (int d : node.dims) {
      const auto at = static_cast<std::size_t>(d);
      const tensor::Extent& extent = operand.shape[at];
      int dim = -1;
      if (!is_one(extent)) {
        if (map[at].dim >= 0 && map[at].broadcast && region_.space[static_cast<std::size_t>(map[at].dim)] == extent)
          dim = map[at].dim;
        for (std::size_t i = 0; dim < 0 && i < region_.space.size(); ++i) {
          const bool taken = used[i] != 0 || std::find(dims.begin(), dims.end(), static_cast<int>(i)) != dims.end();
          const bool open = region_.reduces ? region_.element[i] != 0 : true;
          if (!taken && open && region_.space[i] == extent) dim = static_cast<int>(i);
        }
        if (dim < 0) {
          if (region_.reduces) throw Needs{cut(id)};
          dim = static_cast<int>(region_.space.size());
          region_.space.push_back(extent);
          region_.element.push_back(0);
          used.push_back(0);
        }
        dims.push_back(dim);
      }
      inner[at] = {dim, false};
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      const bool reduced = std::find(dims.begin(), dims.end(), static_cast<int>(i)) != dims.end();
      if (!reduced && !used[i] && !is_one(region_.space[i])) throw Needs{cut(id)};
      if (region_.reduces && reduced != (region_.element[i] != 0)) throw Needs{cut(id)};
    }
    if (!region_.reduces) {
      for (int d : dims) region_.element[static_cast<std::size_t>(d)] = 1;
      region_.reduces = true;
      reduced_ = node.operands[0];
    }
    Instance instance{id, false, "", {visit(node.operands[0], inner)}, {}, {}, Instance::Level::line, 0};
    return add(std::move(instance));
  }

  tensor::Extent zero() const { return literal(0, region_.assignments); }

  tensor::Shape strides(const tensor::Shape& shape, const Map& map) const {
    tensor::Shape result(region_.space.size(), zero());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (map[i].dim < 0 || map[i].broadcast || is_one(shape[i])) continue;
      tensor::Extent& stride = result[static_cast<std::size_t>(map[i].dim)];
      const tensor::Extent step = product_of(shape, i + 1, shape.size(), region_.assignments);
      if (is_zero(stride)) {
        stride = step;
        continue;
      }
      stride = plus(stride, step);  // a diagonal
    }
    return result;
  }

  int leaf(int id, const std::string& buffer, const tensor::Shape& shape, const Map& map) {
    return add({id, true, buffer, {}, strides(shape, map), {}, Instance::Level::line, 0});
  }

  int add(Instance instance) {
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const Instance& other = region_.instances[i];
      if (other.node == instance.node && other.leaf == instance.leaf && other.operands == instance.operands &&
          other.buffer == instance.buffer && other.offset == instance.offset && same(other.strides, instance.strides))
        return static_cast<int>(i);
    }
    region_.instances.push_back(std::move(instance));
    return static_cast<int>(region_.instances.size()) - 1;
  }

  // The iteration space may have grown since the other was made.
  static bool same(const tensor::Shape& a, const tensor::Shape& b) {
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const bool zero_a = i >= a.size() || is_zero(a[i]), zero_b = i >= b.size() || is_zero(b[i]);
      if (zero_a != zero_b || (!zero_a && !(a[i] == b[i]))) return false;
    }
    return true;
  }

  void finish() {
    for (Instance& instance : region_.instances)
      if (!instance.strides.empty()) instance.strides.resize(region_.space.size(), zero());
    for (Region::Root& root : region_.roots) root.strides.resize(region_.space.size(), zero());
    if (!region_.reduces && !region_.space.empty()) region_.element.back() = 1;
  }

  const Dag& dag_;
  const Results& results_;
  const Buffers& buffers_;
  bool fuse_;
  int cut_;
  int reduced_ = -1;  // what the outermost reduction reads
  std::size_t root_rank_ = 0;
  Region region_;
};

}  // namespace

Growth grow(const Dag& dag, const Results& results, const Buffers& buffers, bool fuse, int cut, std::size_t workloads) {
  try {
    Region region = Grower(dag, results, buffers, fuse, cut).grow(workloads);
    set_levels(region, dag);
    return {std::move(region), -1};
  } catch (const Needs& needs) {
    return {{}, needs.node};
  }
}

}  // namespace cudal1::schedule
