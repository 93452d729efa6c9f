// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

struct Parameter {
  std::string type;  // as written, without the name: "const float* __restrict__"
  std::string name;
  bool pointer = false;
};

// A `__global__` function found in CUDA source by a lexer (comments, strings and preprocessor lines are skipped).
struct Signature {
  std::string name;       // qualified by its namespaces: "ns::scale"
  std::vector<Parameter> parameters;
  std::vector<std::string> template_parameters;  // "typename T", "int BLOCK"; empty for an ordinary function
  int line = 0;
};
std::vector<Signature> signatures(std::string_view source);

}  // namespace cudal1::kernel
