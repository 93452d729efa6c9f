// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/graph.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::tensor {

// What an expression of a torch line stands for while it is read.
struct Value {
  enum class Kind {
    none,
    tensor,    // node
    scalar,    // number: a Python number, or text of sizes
    word,      // text
    dtype,     // text
    list,      // items
    shape,     // the extents of a node: number is the size text
    sequence,  // parts of a tensor, made when they are asked for: node (its last attribute is "index"), count or -1
    module,    // text: "torch", "F", "math"
    callable,  // text: "torch.softmax", ".softmax"; items holds the object of a method
    ellipsis,
    slice,     // items: start, stop, step
  };
  Kind kind = Kind::none;
  NodeId node = -1;
  Attribute number;
  int binding = 5;  // of a size text's outermost operator: 1 sum, 2 product, 3 sign, 4 power, 5 none
  std::string text;
  std::vector<Value> items;
  std::shared_ptr<Node> part;
  std::int64_t count = -1;

  bool is(Kind k) const { return kind == k; }
  bool literal() const { return kind == Kind::scalar && !std::holds_alternative<SizeText>(number); }
};

}  // namespace cudal1::tensor
