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
  int column = 0;                               // where in the line it was written

  bool operator==(const Node&) const = default;
};

// A torch line: nodes in evaluation order (operands come first) and the outputs by name.
struct Graph {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, NodeId>> outputs;
};

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
