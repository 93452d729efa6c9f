// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dense.hpp"
#include "tensor/infer.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudal1::tensor {

// A graph whose types are known for given shapes of its inputs, one node of which can be computed at a time. Holds a
// reference to the graph.
class PreparedGraph {
 public:
  // A diagnostic at the operation whose shapes do not fit.
  static tl::expected<PreparedGraph, base::Diagnostic> make(const Graph& graph, const std::map<std::string, Array>& inputs,
                                                            const std::map<std::string, double>& scalars);

  const Graph& graph() const { return *graph_; }
  const Node& node(NodeId id) const { return graph_->nodes[static_cast<std::size_t>(id)]; }
  const Type& type(NodeId id) const { return inferred_.types[static_cast<std::size_t>(id)]; }
  NodeId last_use(NodeId id) const { return last_use_[static_cast<std::size_t>(id)]; }  // outputs: the number of nodes

  // The name of an input's buffer; empty for other nodes.
  std::string input_name(NodeId id) const;

  // The node's value for these operands, which have the shapes of its operands; no input node.
  tl::expected<Array, base::Diagnostic> compute(NodeId id, const std::vector<const Array*>& operands, int threads) const;

  // What the rules of the node's function see. No leaf. The names that it reads must outlive the result.
  Names names() const { return names_of(values_, inferred_.types); }
  Call call(NodeId id, const Names& names) const;

 private:
  const Graph* graph_ = nullptr;
  std::vector<std::map<std::string, Number>> values_;
  Inferred inferred_;
  std::vector<NodeId> last_use_;
};

}  // namespace cudal1::tensor
