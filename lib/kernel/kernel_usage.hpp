// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/source_lexer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// What a kernel's body does to the elements behind a pointer parameter, as far as its text shows.
struct PointerUsage {
  bool read = false, written = false;
  bool first_written = false;  // the first mention of an element writes it
  bool escapes = false;        // handed on or cast: anything may happen
};
PointerUsage pointer_usage(const std::vector<SourceToken>& tokens, std::string_view kernel, const std::string& parameter);

}  // namespace cudal1::kernel
