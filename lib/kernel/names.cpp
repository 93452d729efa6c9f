// SPDX-License-Identifier: Apache-2.0
#include "kernel/names.hpp"

#include "kernel/expression_node.hpp"

#include <algorithm>
#include <set>

namespace cudal1::kernel {

std::string_view reserved_for(const std::string& name) {
  static const std::set<std::string, std::less<>> cuda = {
      "blockIdx",   "blockDim",     "threadIdx",     "gridDim",      "warpSize",   "__global__",
      "__device__", "__host__",     "__shared__",    "__constant__", "dim3",       "uint3",
      "size_t",     "cudaStream_t", "cudaError_t",   "float2",       "float4",     "half",
      "__half",     "nv_bfloat16",  "__nv_bfloat16", "stream"};
  static const std::set<std::string, std::less<>> cpp = {
      "alignas",  "alignof",   "and",          "asm",          "auto",     "bool",     "break",         "case",
      "catch",    "char",      "class",        "const",        "const_cast", "constexpr", "continue",    "decltype",
      "default",  "delete",    "do",           "double",       "dynamic_cast", "else",  "enum",          "explicit",
      "export",   "extern",    "false",        "float",        "for",      "friend",   "goto",          "if",
      "inline",   "int",       "long",         "mutable",      "namespace", "new",     "noexcept",      "not",
      "nullptr",  "operator",  "or",           "private",      "protected", "public",  "register",      "reinterpret_cast",
      "return",   "short",     "signed",       "sizeof",       "static",   "static_assert", "static_cast", "struct",
      "switch",   "template",  "this",         "throw",        "true",     "try",      "typedef",       "typeid",
      "typename", "union",     "unsigned",     "using",        "virtual",  "void",     "volatile",      "wchar_t",
      "while",    "xor",       "concept",      "requires",     "co_await", "co_return", "co_yield"};
  if (cuda.contains(name)) return "reserved by CUDA";
  if (cpp.contains(name)) return "a word of C++";
  if (std::ranges::find(function_names(), name) != function_names().end()) return "a function of expressions";
  if (name.starts_with("__")) return "reserved by the compiler";
  return {};
}

}  // namespace cudal1::kernel
