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
    const Node& root = dag_.at(results_[0].first);
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
    const Node& node = dag_.at(id);
    if (const auto found = buffers_.find(id); found != buffers_.end()) return leaf(id, found->second, node.shape, map);
    if (!fuse_ && id != results_[0].first && ((node.is<Pointwise>() && !node.computes("identity")) || node.is<Reduce>())) throw Needs{id};
    if (id == cut_ && std::none_of(results_.begin(), results_.end(), [&](const auto& result) { return result.first == id; })) throw Needs{id};
    if (node.is<Number>()) return add({id, true});
    if (node.is<Coordinate>()) return coordinate(id, map);
    if (node.is<Pointwise>()) return pointwise(id, map);
    if (node.is<Permute>()) return permute(node, map);
    if (node.is<Reshape>()) return reshape(id, map);
    if (node.is<Reduce>()) return reduce(id, map);
    if (node.is<Slice>()) return slice(id, map);
    const bool produces = node.is<Product>() || node.is<Convolution>() || node.is<Pool>() || node.is<Scan>() || node.is<Gather>();
    if (!produces || region_.reduces || region_.producer >= 0 || !identity(map)) throw Needs{id};
    region_.producer = id;
    for (int operand : node.operands) {
      if (node.is<Product>()) product_operand(operand, halves(node));
      else if (buffers_.count(operand) == 0 && !in_passing(node, operand)) throw Needs{operand};
    }
    return add({id, true, "", {}, {}, {}, Instance::Level::element});
  }

  int coordinate(int id, const Map& map) {
    const tensor::Shape& shape = dag_.at(id).shape;
    Instance instance{id, true, "", {}, tensor::Shape(region_.space.size(), zero())};
    for (std::size_t i = 0; i < map.size(); ++i)
      if (map[i].dim >= 0 && !map[i].broadcast && !is_one(shape[i]))
        instance.strides[static_cast<std::size_t>(map[i].dim)] = literal(1, region_.assignments);
    return add(std::move(instance));
  }

  int permute(const Node& node, const Map& map) {
    Map operand(map.size());
    for (std::size_t i = 0; i < map.size(); ++i) operand[static_cast<std::size_t>(node.as<Permute>().dims[i])] = map[i];
    return visit(node.operands[0], operand);
  }

  bool in_passing(const Node& scan, int operand) const {
    if (!fuse_ || operand == cut_ || !scan.is<Scan>()) return false;
    const Growth growth = schedule::grow(dag_, {{operand, ""}}, buffers_, fuse_, cut_, region_.workloads);
    if (!growth.region && growth.needs == cut_) throw Needs{cut_};
    return growth.region && scans_in_passing(scan, *growth.region);
  }

  // Whether both factors of a product are casts of tensors in memory, of the same type of 16 bits: then they are read as they are,
  // unless a cast is in memory, too, or there are more of them than a grid has layers.
  bool halves(const Node& product) const {
    const auto cast_alone = [&](int factor) {
      const int from = cast_from_half(dag_, factor);
      return from >= 0 && buffers_.count(from) != 0 && buffers_.count(factor) == 0 && (!dag_.at(factor).is<Permute>() || buffers_.count(dag_.at(factor).operands[0]) == 0);
    };
    const int left = product.operands[0], right = product.operands[1];
    const tensor::Extent batches = product_of(product.shape, 0, product.shape.size() - 2, region_.assignments);
    return fuse_ && *std::max_element(batches.values.begin(), batches.values.end()) <= most_layers && cast_alone(left) && cast_alone(right) && dag_.at(cast_from_half(dag_, left)).dtype == dag_.at(cast_from_half(dag_, right)).dtype;
  }

  // A factor of a product is read from memory, at most through a swap of its last two dimensions.
  void product_operand(int id, bool half) {
    const Node& node = dag_.at(id);
    const int stored = node.is<Permute>() && node.as<Permute>().swaps_last() ? node.operands[0] : id;
    if (buffers_.count(id) == 0 && buffers_.count(stored) == 0 && (!half || stored == cut_)) throw Needs{stored};
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
    const Node& node = dag_.at(id);
    Instance instance{id};
    for (int operand : node.operands)
      instance.operands.push_back(
          visit(operand, operand_map(node, dag_.at(operand), map)));
    return add(std::move(instance));
  }

  int reshape(int id, const Map& map) {
    const Node& node = dag_.at(id);
    int source = node.operands[0];
    while (dag_.at(source).is<Reshape>() && buffers_.count(source) == 0)
      source = dag_.at(source).operands[0];
    const Node& operand = dag_.at(source);
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
    const Node& node = dag_.at(id);
    const auto& [starts, by] = node.as<Slice>();
    const int source = node.operands[0];
    const auto found = buffers_.find(source);
    if (found == buffers_.end()) throw Needs{source};
    tensor::Shape steps = strides_of(dag_.at(source).shape, region_.assignments);
    tensor::Extent offset = literal(0, region_.assignments);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!is_zero(starts[i]) && !is_zero(steps[i])) {
        const tensor::Extent start = times(starts[i], steps[i]);
        offset = is_zero(offset) ? start : plus(offset, start);
      }
      if (by[i] != 1) steps[i] = times(steps[i], literal(by[i], region_.assignments));
    }
    Instance instance{id, true, found->second, {}, strides(node.shape, steps, map)};
    if (!is_zero(offset)) instance.offset = offset;
    return add(std::move(instance));
  }

  // Where to cut below a reduction that does not fit: right under the outer one when that has as few elements to read
  // there, so that everything between is computed while the inner one's row is at hand.
  int cut(int inner) const {
    if (reduced_ < 0 || buffers_.count(reduced_) != 0) return inner;
    const auto count = [&](int id) {
      const tensor::Shape& shape = dag_.at(id).shape;
      return product_of(shape, 0, shape.size(), region_.assignments);
    };
    return count(reduced_) == count(inner) ? reduced_ : inner;
  }

  int reduce(int id, const Map& map) {
    const Node& node = dag_.at(id);
    const Node& operand = dag_.at(node.operands[0]);
    if (region_.producer >= 0) throw Needs{cut(id)};
    // Results that many rows share are computed once, in a kernel of their own.
    std::vector<char> used(region_.space.size(), 0);
    for (std::size_t i = 0; i < map.size(); ++i)
      if (map[i].dim >= 0 && !map[i].broadcast) used[static_cast<std::size_t>(map[i].dim)] = 1;
    Map inner = map;
    std::vector<int> dims;
    for (int d : node.as<Reduce>().dims) {
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
    return add({id, false, "", {visit(node.operands[0], inner)}});
  }

  tensor::Extent zero() const { return literal(0, region_.assignments); }

  // Of a tensor whose neighbours along each dimension are that many steps apart.
  tensor::Shape strides(const tensor::Shape& shape, const tensor::Shape& steps, const Map& map) const {
    tensor::Shape result(region_.space.size(), zero());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (map[i].dim < 0 || map[i].broadcast || is_one(shape[i])) continue;
      tensor::Extent& stride = result[static_cast<std::size_t>(map[i].dim)];
      stride = is_zero(stride) ? steps[i] : plus(stride, steps[i]);  // two of them: a diagonal
    }
    return result;
  }
  tensor::Shape strides(const tensor::Shape& shape, const Map& map) const { return strides(shape, strides_of(shape, region_.assignments), map); }

  int leaf(int id, const std::string& buffer, const tensor::Shape& shape, const Map& map) {
    return add({id, true, buffer, {}, strides(shape, map)});
  }

  int add(Instance instance) {
    for (std::size_t i = 0; i < region_.instances.size(); ++i) {
      const Instance& other = region_.instances[i];
      if (other.node == instance.node && other.leaf == instance.leaf && other.operands == instance.operands &&
          other.buffer == instance.buffer && other.offset == instance.offset && same(other.strides, instance.strides))
        return static_cast<int>(i);
    }
    region_.instances.push_back(std::move(instance));
    return region_.count() - 1;
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
