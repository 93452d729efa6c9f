// SPDX-License-Identifier: Apache-2.0
#include "tensor/part.hpp"

#include "tensor/prepared_graph.hpp"

#include <algorithm>
#include <set>

namespace cudal1::tensor {
namespace {

constexpr int whole = -1;

struct Undivided {};   // thrown: the axis cannot be cut here

const std::set<std::string, std::less<>>& pointwise_names() {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> result;
    for (const Row& row : pointwise_rows()) result.emplace(row.signature.substr(0, row.signature.find('(')));
    for (const char* other : {"glu", "prelu"}) result.erase(other);
    return result;
  }();
  return names;
}

bool one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The axis of each operand at which it must be cut, for a cut of the result.
class Cutter {
 public:
  Cutter(const Call& call, const Type& result) : call_(call), name_(call.node().function), rank_(rank(result)) {}

  std::vector<int> cut(int axis) {
    operands_.assign(static_cast<std::size_t>(call_.operands()), whole);
    if (call_.operands() == 0) return operands_;
    if (pointwise_names().contains(name_)) return aligned(axis);
    if (one_of(name_, {"sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "var", "std", "logsumexp", "any", "all", "norm"})) return reduction(axis);
    if (one_of(name_, {"softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp", "cummax", "cummin", "sort", "argsort", "topk", "topk_index", "glu"})) {
      if (call_.axis("dim", rank_) == axis) throw Undivided();
      return first(axis);
    }
    if (one_of(name_, {"layer_norm", "rms_norm"})) {
      if (axis >= rank_ - static_cast<int>(call_.quantities("normalized_shape").size())) throw Undivided();
      return first(axis);
    }
    if (name_ == "batch_norm" || name_ == "prelu") return channel_wise(axis, name_ == "prelu" || !call_.truth("training"));
    if (name_ == "instance_norm") return axis == 0 ? first(axis) : channel_wise(axis == 1 ? axis : refused(), true);
    if (name_ == "group_norm") return first(axis == 0 ? axis : refused());
    if (name_.starts_with("conv")) return convolution(axis);
    if (name_.find("_pool") != std::string::npos || name_ == "interpolate") return first(axis < 2 ? axis : refused());
    if (name_ == "matmul") return product(axis);
    if (name_ == "einsum") return einsum(axis);
    if (name_ == "scaled_dot_product_attention") return attention(axis);
    if (one_of(name_, {"permute", "transpose"})) return reordered(axis);
    if (name_ == "unsqueeze") return unsqueezed(axis);
    if (one_of(name_, {"tril", "triu"})) return first(axis < rank_ - 2 ? axis : refused());
    if (name_ == "flatten") return first(axis < call_.axis("start_dim", rank(call_.type(0))) ? axis : refused());
    throw Undivided();
  }

 private:
  static int refused() { throw Undivided(); }

  std::vector<int> first(int axis) {
    operands_.front() = axis;
    return operands_;
  }

  // The axis of an operand that is broadcast to the result's.
  int broadcast(int operand, int axis, int result_rank) const {
    const Shape& shape = call_.type(operand).shape;
    const int own = axis - (result_rank - static_cast<int>(shape.size()));
    return own < 0 || is_one(shape[static_cast<std::size_t>(own)]) ? whole : own;
  }

  std::vector<int> aligned(int axis) {
    for (int i = 0; i < call_.operands(); ++i) operands_[static_cast<std::size_t>(i)] = broadcast(i, axis, rank_);
    return operands_;
  }

  std::vector<int> reduction(int axis) {
    const int rank_in = rank(call_.type(0));
    const std::vector<int> reduced = call_.axes("dim", rank_in);
    if (call_.truth("keepdim")) return first(std::binary_search(reduced.begin(), reduced.end(), axis) ? refused() : axis);
    int kept = -1;
    for (int own = 0; own < rank_in; ++own) {
      if (std::binary_search(reduced.begin(), reduced.end(), own)) continue;
      if (++kept == axis) return first(own);
    }
    throw Undivided();
  }

  std::vector<int> channel_wise(int axis, bool separate) {
    if (axis != 1 && !separate) throw Undivided();
    for (int i = 0; i < call_.operands(); ++i)
      operands_[static_cast<std::size_t>(i)] = i == 0 ? axis : axis == 1 && !is_one(call_.type(i).shape.front()) ? 0 : whole;
    return operands_;
  }

  std::vector<int> convolution(int axis) {
    if (axis == 0) return first(0);
    if (axis != 1 || call_.integer("groups") != 1) throw Undivided();
    const int weight = call_.index("weight"), bias = call_.index("bias");
    operands_[static_cast<std::size_t>(weight)] = name_.starts_with("conv_transpose") ? 1 : 0;
    if (bias >= 0) operands_[static_cast<std::size_t>(bias)] = 0;
    return operands_;
  }

  std::vector<int> product(int axis) {
    const int left = rank(call_.type(0)), right = rank(call_.type(1));
    if (left < 2 || right < 2) throw Undivided();
    if (axis == rank_ - 2) operands_ = {left - 2, whole};
    else if (axis == rank_ - 1) operands_ = {whole, right - 1};
    else aligned(axis);
    return operands_;
  }

  std::vector<int> einsum(int axis) {
    const std::string equation = call_.word("equation");
    const auto arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos || equation.find(' ') != std::string::npos) throw Undivided();
    const char letter = equation.at(arrow + 2 + static_cast<std::size_t>(axis));
    std::size_t start = 0;
    for (int& operand : operands_) {
      const std::size_t end = std::min(equation.find(',', start), arrow);
      const std::string letters = equation.substr(start, end - start);
      if (std::count(letters.begin(), letters.end(), letter) > 1) throw Undivided();
      const auto at = letters.find(letter);
      operand = at == std::string::npos ? whole : static_cast<int>(at);
      start = end + 1;
    }
    return operands_;
  }

  std::vector<int> attention(int axis) {
    if (axis < rank_ - 2) return aligned(axis);
    if (axis == rank_ - 1) {
      operands_[static_cast<std::size_t>(call_.index("value"))] = rank(call_.type(call_.index("value"))) - 1;
      return operands_;
    }
    if (call_.truth("is_causal") || call_.index("attn_mask") >= 0) throw Undivided();
    return first(rank(call_.type(0)) - 2);
  }

  std::vector<int> reordered(int axis) {
    std::vector<int> order;
    for (int i = 0; i < rank_; ++i) order.push_back(i);
    if (name_ == "transpose") std::swap(order.at(static_cast<std::size_t>(call_.axis("dim0", rank_))), order.at(static_cast<std::size_t>(call_.axis("dim1", rank_))));
    else if (!call_.has("dims")) std::reverse(order.begin(), order.end());
    else {
      order.clear();
      for (const std::int64_t dim : call_.integers("dims")) order.push_back(Call::axis(dim, rank_));
    }
    return first(order.at(static_cast<std::size_t>(axis)));
  }

  std::vector<int> unsqueezed(int axis) {
    const int added = call_.axis("dim", rank_);
    if (axis == added) throw Undivided();
    return first(axis - (axis > added ? 1 : 0));
  }

  const Call& call_;
  const std::string& name_;
  int rank_;
  std::vector<int> operands_;
};

}  // namespace

std::optional<std::map<std::string, int>> cuts(const Graph& graph, const std::map<std::string, Array>& inputs,
                                               const std::map<std::string, double>& scalars, const std::string& output, int axis) {
  std::map<std::string, Array> shapes;
  for (const auto& [name, array] : inputs) shapes[name] = {array.dtype, array.shape, {}};
  const auto prepared = PreparedGraph::make(graph, shapes, scalars);
  if (!prepared) return std::nullopt;
  const auto target = std::find_if(graph.outputs.begin(), graph.outputs.end(), [&](const auto& each) { return each.first == output; });
  if (target == graph.outputs.end() || axis >= rank(prepared->type(target->second))) return std::nullopt;
  std::map<NodeId, int> wanted{{target->second, axis}};
  std::map<std::string, int> result;
  const Names names = prepared->names();
  for (NodeId id = target->second; id >= 0; --id) {
    const auto found = wanted.find(id);
    if (found == wanted.end()) continue;
    if (const std::string name = prepared->input_name(id); !name.empty()) {
      result[name] = found->second;
      continue;
    }
    const Node& node = graph.nodes[static_cast<std::size_t>(id)];
    std::vector<int> operands(node.operands.size(), whole);
    try {
      if (found->second != whole && !node.operands.empty()) operands = Cutter(prepared->call(id, names), prepared->type(id)).cut(found->second);
    } catch (const Undivided&) {
      return std::nullopt;
    } catch (const Refusal&) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto [place, fresh] = wanted.try_emplace(node.operands[i], operands[i]);
      if (!fresh && place->second != operands[i]) return std::nullopt;   // once cut and once whole
    }
  }
  return result;
}

Array cut(const Array& array, int axis, const std::vector<std::int64_t>& indices) {
  const Around around(array.shape, axis);
  Array result{array.dtype, array.shape, {}};
  result.shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(indices.size());
  result.values.reserve(static_cast<std::size_t>(elements(result.shape)));
  for (std::int64_t outer = 0; outer < around.outer; ++outer)
    for (const std::int64_t index : indices) {
      const auto from = array.values.begin() + (outer * around.length + index) * around.inner;
      result.values.insert(result.values.end(), from, from + around.inner);
    }
  return result;
}

}  // namespace cudal1::tensor
