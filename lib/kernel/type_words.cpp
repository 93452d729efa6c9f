// SPDX-License-Identifier: Apache-2.0
#include "kernel/type_words.hpp"

#include <set>
#include <utility>

namespace cudal1::kernel {

bool is_type(std::string_view word) {
  static const std::set<std::string_view> words = {"int", "unsigned", "long", "short", "char", "float", "double", "size_t", "bool", "half", "__half", "half2", "__half2",
                                                   "float2", "float3", "float4", "int2", "int4", "uint4", "uint2", "double2", "const", "volatile", "int32_t", "uint32_t",
                                                   "int64_t", "uint64_t", "uint8_t", "int8_t", "int16_t", "uint16_t", "signed", "nv_bfloat16", "__nv_bfloat16", "__nv_bfloat162",
                                                   "nv_bfloat162", "uint", "uchar", "T", "scalar_t", "DType", "Dtype", "uint3", "int3", "void", "uchar4", "char4", "double4", "longlong2"};
  return words.contains(word);
}

std::int64_t width_of(const std::string& words) {
  for (const auto& [name, width] : {std::pair{"float4", 4}, {"int4", 4}, {"uint4", 4}, {"float2", 2}, {"double2", 2}, {"half2", 2}, {"__half2", 2}, {"int2", 2},
                                    {"uint2", 2}, {"bfloat162", 2}, {"uchar4", 4}, {"char4", 4}, {"float3", 3}})
    if (words.find(name) != std::string::npos) return width;
  return 1;
}

bool is_real(const std::string& words) {
  return words.find("float") != std::string::npos || words.find("double") != std::string::npos || words.find("half") != std::string::npos;
}

}  // namespace cudal1::kernel
