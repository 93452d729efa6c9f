// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::record {

using Names = std::set<std::string, std::less<>>;

// One declaration at namespace scope, or one macro.
struct Declaration {
  enum class Sort { macro, type, function, variable, other };
  Sort sort = Sort::other;
  std::size_t from = 0, to = 0;            // bytes of the text
  std::vector<std::string> scopes;         // "namespace a {"
  Names declares, mentions;
  Names specifiers;                        // of a function: all words before its parameters
  bool on_device = false;                  // may be part of device code
  bool says_device = false;                // with `__device__` or `__global__`
  bool prototype = false, always = false;  // of a kernel: its definition says it again
  bool needs_default = false;              // a type with members that nobody marked for the device
  std::string variable, variable_type, template_parameter, extents;     // a device variable's name …
  std::size_t initialiser_from = 0, initialiser_to = 0;  // … and where its initialiser stands, or may stand
};

// All of a preprocessed source, in its order. What is in functions' bodies is mentioned, not declared.
std::vector<Declaration> read_declarations(std::string_view text);

}  // namespace cudal1::record
