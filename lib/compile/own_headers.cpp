// SPDX-License-Identifier: Apache-2.0
#include "compile/own_headers.hpp"

#include "base/text.hpp"
#include "compile/headers.hpp"

#include <string_view>

namespace cudal1::compile {

namespace {

constexpr std::string_view own = "hopper.cuh";

bool includes_own(std::string_view line) {
  line = base::trim(line);
  if (!line.starts_with('#')) return false;
  line = base::trim(line.substr(1));
  if (!line.starts_with("include")) return false;
  line = base::trim(line.substr(7));
  return line.starts_with("\"" + std::string(own) + "\"") || line.starts_with("<" + std::string(own) + ">");
}

}  // namespace

std::string with_own_headers(const std::string& source) {
  if (source.find(own) == std::string::npos) return source;
  std::string out;
  bool there = false;
  for (const std::string& line : base::split_lines(source)) {
    if (!includes_own(line)) {
      out += line + "\n";
      continue;
    }
    if (there) continue;
    there = true;
    for (const std::string& each : base::split_lines(*embedded_text(own)))
      if (base::trim(each) != "#pragma once" && !each.starts_with("// SPDX")) out += each + "\n";
  }
  return out;
}

}  // namespace cudal1::compile
