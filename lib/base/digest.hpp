// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudal1::base {

// SHA-256 of the bytes, 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace cudal1::base
