// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_usage.hpp"

#include <algorithm>

namespace cudal1::kernel {

PointerUsage pointer_usage(const std::vector<SourceToken>& tokens, std::string_view kernel, const std::string& parameter) {
  PointerUsage usage;
  const std::size_t colon = kernel.rfind("::");
  const std::string_view name = colon == std::string_view::npos ? kernel : kernel.substr(colon + 2);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is(name) || !tokens[i + 1].is("(")) continue;
    const std::size_t head = matching_bracket(tokens, i + 1);
    if (head + 1 >= tokens.size() || !tokens[head + 1].is("{")) continue;
    const std::size_t end = matching_bracket(tokens, head + 1);
    bool first = true;
    for (std::size_t k = head + 2; k < end; ++k) {
      if (!tokens[k].is(parameter) || tokens[k - 1].is(".") || tokens[k - 1].is("->")) continue;
      bool writes = false, reads = true;
      const bool atomic = k >= 3 && tokens[k - 1].is("&") && tokens[k - 2].is("(") && tokens[k - 3].text.starts_with("atomic");
      const bool atomic_pointer = k >= 2 && tokens[k - 1].is("(") && tokens[k - 2].text.starts_with("atomic");
      if (atomic || atomic_pointer) {
        writes = true;
      } else if (tokens[k + 1].is("[")) {
        std::size_t after = matching_bracket(tokens, k + 1) + 1;
        // C[i].x = …, FETCH_FLOAT4(C[i]) = …, reinterpret_cast<float4*>(&C[i])[0] = …
        while (after < end && (tokens[after].is(".") || tokens[after].is(")") || tokens[after].is("["))) {
          if (tokens[after].is(".")) ++after;
          else if (tokens[after].is("[")) after = matching_bracket(tokens, after);
          ++after;
        }
        if (after >= end) continue;
        if (tokens[k - 1].is("&") && !tokens[after].is("=")) usage.escapes = true;
        if (tokens[after].is("=")) {
          writes = true;
          reads = false;
          for (std::size_t r = after + 1; r < end && !tokens[r].is(";"); ++r) reads |= tokens[r].is(parameter);
        }
        if (tokens[after].is("+=") || tokens[after].is("-=") || tokens[after].is("*=") || tokens[after].is("/=") || tokens[after].is("++") ||
            tokens[after].is("--") || tokens[k - 1].is("++") || tokens[k - 1].is("--"))
          writes = true;
      } else if (k >= 1 && tokens[k - 1].is("*") && tokens[k + 1].is("=") && k >= 2 && (tokens[k - 2].is(";") || tokens[k - 2].is("{") || tokens[k - 2].is(")"))) {
        writes = true;
        reads = false;
      } else {
        usage.escapes = true;
      }
      if (first) usage.first_written = writes && !reads;
      first = false;
      usage.read |= reads;
      usage.written |= writes;
    }
    return usage;
  }
  usage.escapes = true;
  return usage;
}

}  // namespace cudal1::kernel
