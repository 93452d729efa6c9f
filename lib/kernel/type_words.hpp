// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cudal1::kernel {

// Whether a word of device code is, or is a part of, a type's name that a reader of any kernel knows.
bool is_type(std::string_view word);

// Elements of the base type in one of a vector type: 4 for "const float4*".
std::int64_t width_of(const std::string& words);

// Whether the words of a declaration name a floating-point type.
bool is_real(const std::string& words);

}  // namespace cudal1::kernel
