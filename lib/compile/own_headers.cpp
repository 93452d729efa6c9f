// SPDX-License-Identifier: Apache-2.0
#include "compile/own_headers.hpp"

#include "base/text.hpp"
#include "compile/headers.hpp"

#include <set>
#include <string_view>

namespace cudal1::compile {

namespace {

constexpr std::string_view own_headers[] = {"hopper.cuh", "hopper_multiply.cuh"};

// The header of ours that the line includes; empty where it does not.
std::string_view included(std::string_view line) {
  line = base::trim(line);
  if (!line.starts_with('#')) return {};
  line = base::trim(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = base::trim(line.substr(7));
  for (const std::string_view name : own_headers)
    if (line.starts_with("\"" + std::string(name) + "\"") || line.starts_with("<" + std::string(name) + ">")) return name;
  return {};
}

bool is_only_for_files(std::string_view line) { return base::trim(line) == "#pragma once" || line.starts_with("// SPDX"); }

// `there`: headers whose text stands there already.
std::string expanded(std::string_view text, std::set<std::string_view>& there) {
  std::string out;
  for (const std::string& line : base::split_lines(text)) {
    const std::string_view name = included(line);
    if (name.empty()) {
      out += line + "\n";
    } else if (there.insert(name).second) {
      for (const std::string& each : base::split_lines(expanded(*embedded_text(name), there)))
        if (!is_only_for_files(each)) out += each + "\n";
    }
  }
  return out;
}

}  // namespace

std::string with_own_headers(const std::string& source) {
  if (source.find(own_headers[0]) == std::string::npos) return source;
  std::set<std::string_view> there;
  return expanded(source, there);
}

}  // namespace cudal1::compile
