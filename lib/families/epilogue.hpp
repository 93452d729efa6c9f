// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"
#include "cuda_code/terms.hpp"
#include "families/arguments.hpp"
#include "schedule/region.hpp"

#include <map>
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

using namespace schedule;

// One element of a region's first root: what computes it, and its name or number.
struct Spelling {
  std::string statements;  // each line indented by `indent`
  std::string value;
};

// `at` names the coordinate along each dimension of the space; empty where it has extent 1. `loaded` says of instances in
// memory how to read them where that is not at their address.
Spelling spelling(const Region& region, const Dag& dag, const std::vector<std::string>& at, std::size_t indent,
                  Arguments& arguments, const std::map<std::size_t, std::string>& loaded = {});

// "N + size_t(row) * M + column"; dimensions without a name are left out.
cuda_code::Sum address_sum(const tensor::Shape& strides, const tensor::Extent& start, const std::vector<std::string>& at, Arguments& arguments);
std::string address(const tensor::Shape& strides, const tensor::Extent& start, const std::vector<std::string>& at,
                    Arguments& arguments);

// What follows the results of a region's producer, one element at a time, while they are in registers.
struct Epilogue {
  std::string statements;  // read `produced`
  std::string store;       // "Y[row * M + column] = v3;"
};

// Declares the pointers that an epilogue reads and writes; the family's own come before.
void declare_epilogue(const Region& region, const Dag& dag, Arguments& arguments);
Epilogue epilogue(const Region& region, const Dag& dag, const std::vector<std::string>& at, std::size_t indent,
                  Arguments& arguments);

// Statements that take a row-major `index` of some dimensions apart: "const int at0 = …;". The names go to `at`; `named` is the number in the first one's.
std::vector<std::string> coordinates_along(const tensor::Shape& shape, const std::vector<std::size_t>& dims, const std::string& index, const std::string& type,
                                           std::vector<std::string>& at, Arguments& arguments, std::size_t named = 0);
// The same of all dimensions, as one text.
std::string coordinates(const tensor::Shape& shape, const std::string& index, std::vector<std::string>& at,
                        Arguments& arguments, std::size_t named = 0);
// The same of the number of a matrix among those of the space, whose last two dimensions are called `row` and `column`.
std::string matrix_coordinates(const Region& region, const std::string& index, std::vector<std::string>& at, Arguments& arguments);

// Declares the pointers that a region reads.
void declare_inputs(const Region& region, const Dag& dag, Arguments& arguments);

}  // namespace cudal1::families
