// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/graph.hpp"

#include <functional>
#include <string>

namespace cudal1::tensor {

// The canonical form that graph.hpp describes: what no output needs is gone, nodes are numbered depth first.
Graph canonical(const Graph& graph);

// A size text with each `$3` replaced by what `name` says.
std::string replace_nodes(const std::string& text, const std::function<std::string(NodeId)>& name);

}  // namespace cudal1::tensor
