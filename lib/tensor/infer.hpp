// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/function.hpp"

namespace cudal1::tensor {

struct Inferred {
  std::vector<Type> types;
  std::vector<char> weak;  // the node is a Python number, or made of them alone
};

// As infer(), with real scalars among the values.
tl::expected<Inferred, base::Diagnostic> infer_all(const Graph& graph, const std::map<std::string, Type>& inputs,
                                                   const std::vector<std::map<std::string, Number>>& values);

// The meaning of names in size texts; both arguments must outlive the result.
Names names_of(const std::vector<std::map<std::string, Number>>& values, const std::vector<Type>& types);

}  // namespace cudal1::tensor
