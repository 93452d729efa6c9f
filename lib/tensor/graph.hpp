// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "tensor/dtype.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::tensor {

using NodeId = int;

// None, a truth value, an integer, a real, a list of integers, a word ("mean", "float32"), or an expression of sizes
// that is an integer once the sizes are known (`N`, `N // 2`), kept as text.
struct SizeText { std::string text; bool operator==(const SizeText&) const = default; };
using Attribute = std::variant<std::monostate, bool, std::int64_t, double, std::vector<std::int64_t>, std::string, SizeText>;

// One operation. `function` is the canonical name: operators, torch.x, F.x and .x() spell the same function alike
// (`@` and torch.matmul and .matmul are "matmul"; `*` is "mul"). "input" (name in attributes["name"]) and "constant"
// (attributes["value"]) are leaves. functions() lists every function with its parameters.
struct Node {
  std::string function;
  std::vector<NodeId> operands;
  std::map<std::string, Attribute> attributes;  // every parameter that is not a tensor, defaults filled in
  int column = 0;                               // where in the line it was written; no part of equality

  bool operator==(const Node& other) const {
    return function == other.function && operands == other.operands && attributes == other.attributes;
  }
};

// A torch line: nodes in evaluation order (operands come first) and the outputs by name.
//
// The form is canonical: every node is reached from an output, nodes are numbered in the order of a depth-first walk
// from the outputs, and equal leaves are one node. An optional tensor that is absent is no operand, and its name is an
// attribute without value: layer_norm(input, normalized_shape, weight=None, bias) has the operands input and bias and
// attributes["weight"] = None. A list of integers holds one element where PyTorch takes one number for all axes.
// Text of sizes is Python's; `$3.shape[1]` in it is an extent of node 3.
struct Graph {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, NodeId>> outputs;

  bool operator==(const Graph&) const = default;
};

// The operand of a parameter by its name ("weight"), or -1 when it is absent.
NodeId operand(const Graph& graph, const Node& node, std::string_view parameter);

// The nodes that a node needs: its operands, and nodes whose extents its attributes mention.
std::vector<NodeId> needs(const Node& node);

// Parses `C = torch.diag(A) @ B` (several statements separated by `;`, tuples on the left: `values, indices = …`;
// intermediate names allowed). `inputs` are the names a line may read, `sizes` those of sizes and scalars; every name
// of `outputs` must be assigned. `file` and `line` and `column` locate the text for diagnostics. An unknown function
// is the diagnostic «torch.foo is not known to the evaluator», with hint, and Diagnostic::severity warning: the task
// is then still good, but has no oracle.
tl::expected<Graph, base::Diagnostic> parse(std::string_view text, const std::vector<std::string>& inputs,
                                            const std::vector<std::string>& sizes,
                                            const std::vector<std::string>& outputs, const std::string& file = "torch",
                                            int line = 1, int column = 1);

std::string to_string(const Graph& graph);  // parse(to_string(g)) equals g

// Simplifies without changing any value beyond rounding: common subexpressions, operations without effect, double
// transposes. Costly algebra is the playbook's.
Graph simplify(const Graph& graph);

// The functions known, for the manual and for messages: "softmax(input, dim)".
std::vector<std::string> functions();

}  // namespace cudal1::tensor
