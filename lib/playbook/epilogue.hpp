// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playbook/arguments.hpp"
#include "playbook/region.hpp"

#include <string>
#include <vector>

namespace cudal1::playbook {

// What follows the results of a region's producer, one element at a time, while they are in registers.
struct Epilogue {
  std::string statements;  // reads `produced`; each line indented by `indent`
  std::string store;       // "Y[row * M + column] = v3;"
};

// Declares the pointers that an epilogue reads and writes; the family's own come before.
void declare_epilogue(const Region& region, const Dag& dag, Arguments& arguments);
// `at` names the coordinate along each dimension of the space; empty where it has extent 1.
Epilogue epilogue(const Region& region, const Dag& dag, const std::vector<std::string>& at, std::size_t indent,
                  Arguments& arguments);

// Statements that take a row-major `index` apart: "const int at0 = …;". The names go to `at`.
std::string coordinates(const tensor::Shape& shape, const std::string& index, std::vector<std::string>& at,
                        Arguments& arguments);

}  // namespace cudal1::playbook
