// SPDX-License-Identifier: Apache-2.0
#include "kernel/output.hpp"

#include "base/text.hpp"
#include "kernel/host_launcher.hpp"
#include "kernel/substitute.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

constexpr std::string_view verified_at = "// cudal1 verified this kernel at ";

// "N=512 M=1024"; empty for a label that is none.
std::map<std::string, std::int64_t> sizes_of(std::string_view label) {
  std::map<std::string, std::int64_t> sizes;
  while (!label.empty()) {
    const auto end = std::min(label.find(' '), label.size());
    const std::string_view word = label.substr(0, end);
    label.remove_prefix(std::min(end + 1, label.size()));
    const auto equals = word.find('=');
    std::int64_t value = 0;
    if (equals == std::string_view::npos) return {};
    const auto [stop, error] = std::from_chars(word.data() + equals + 1, word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) return {};
    sizes[std::string(word.substr(0, equals))] = value;
  }
  return sizes;
}

}  // namespace

std::string verified_comment(const std::vector<std::string>& labels) {
  std::string list;
  for (const std::string& label : labels)
    if (!label.empty()) list += (list.empty() ? "" : "; ") + label;
  return list.empty() ? "" : fmt::format("{}{}\n", verified_at, list);
}

std::vector<std::map<std::string, std::int64_t>> verified_sizes(const std::string& source) {
  std::vector<std::map<std::string, std::int64_t>> all;
  for (std::string_view line : base::split_lines(source)) {
    if (!line.starts_with(verified_at)) continue;
    for (line.remove_prefix(verified_at.size()); !line.empty();) {
      const auto end = std::min(line.find("; "), line.size());
      if (auto sizes = sizes_of(line.substr(0, end)); !sizes.empty()) all.push_back(std::move(sizes));
      line.remove_prefix(std::min(end + 2, line.size()));
    }
  }
  return all;
}

std::string output_file(const File& task, const File& answer, const Environment& tunables) {
  File whole = answer;
  whole.task = task.task;
  whole.torch = task.torch;
  whole.sizes = task.sizes;
  whole.checks = task.checks;
  whole.scalars = task.scalars;
  whole.buffers = task.buffers;
  whole.tolerances = task.tolerances;
  whole.includes = task.includes;
  whole.options = task.options;
  whole = with_tunables_fixed(std::move(whole), tunables);

  std::string constants = tunable_prelude(tunables);
  if (!constants.empty()) constants += "\n";
  return fmt::format("{}\n{}{}\n#ifndef __CUDACC_RTC__\n{}#endif  // __CUDACC_RTC__\n", print(whole), constants, code(answer), host_launcher(whole));
}

}  // namespace cudal1::kernel
