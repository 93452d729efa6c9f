// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"

#include <string>
#include <vector>

namespace cudal1::families {

using namespace algebra;

// How every family spells what registers hold of a node.
struct Operand {
  const Node& node;
  std::string text;  // its name or number
};

// A pointwise operation of operands. A number takes the type that the operation computes in.
std::string applied(const Node& pointwise, const std::vector<Operand>& operands);
// "const float v3 = …;"
std::string declared(const Node& node, const std::string& name, const std::string& value);
// A value as memory holds it: converted where registers hold another type.
std::string stored(tensor::Dtype dtype, const std::string& value);

}  // namespace cudal1::families
