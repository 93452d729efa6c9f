// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudal1::search {

// Equal for kernel files that differ only in white space, comments and the `//@ of` directive: they compile to the same
// code, so the second is not worth judging. 64 hexadecimal digits.
std::string fingerprint(std::string_view source);

}  // namespace cudal1::search
