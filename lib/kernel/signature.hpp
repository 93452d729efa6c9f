// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::kernel {

struct Parameter {
  std::string type;  // as written, without the name: "const float* __restrict__"
  std::string name;
  bool pointer = false;
};

// A `__global__` function defined in CUDA source by a lexer (comments, strings and preprocessor lines are skipped).
struct Signature {
  std::string name;       // qualified by its namespaces: "ns::scale"
  std::vector<Parameter> parameters;
  std::vector<std::string> template_parameters;  // "typename T", "int BLOCK"; empty for an ordinary function
  int line = 0;
};
std::vector<Signature> signatures(std::string_view source);

// "ns::k<float, BLOCK>" taken apart: {"ns::k", {"float", "BLOCK"}}.
struct KernelName {
  std::string name;
  std::vector<std::string> template_arguments;
  bool has_template_list = false;
};
KernelName split_kernel_name(std::string_view text);

// The definition of a launched kernel, or null. A leading `::` is the global namespace.
const Signature* find_signature(const std::vector<Signature>& signatures, std::string_view name);

// "typename T" → "T", "int BLOCK = 256" → "BLOCK"; the default, "256", is empty when there is none.
struct TemplateParameter {
  std::string name, fallback;
  bool type = false;  // typename or class
};
TemplateParameter split_template_parameter(std::string_view text);

// Names that stand for a type in this source: `using real = float;`, `typedef float real;`, `#define REAL float`.
std::vector<std::pair<std::string, std::string>> type_aliases(std::string_view source);

}  // namespace cudal1::kernel
