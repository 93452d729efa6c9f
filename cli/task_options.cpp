// SPDX-License-Identifier: Apache-2.0
#include "task_options.hpp"

#include "base/error.hpp"

#include <charconv>
#include <cstdint>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

std::map<std::string, std::int64_t> overrides(const std::vector<std::string>& set) {
  std::map<std::string, std::int64_t> values;
  for (const auto& text : set) {
    const auto equals = text.find('=');
    const char* end = text.data() + text.size();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + std::min(equals, text.size() - 1) + 1, end, value);
    if (equals == 0 || equals == std::string::npos || error != std::errc() || stop != end)
      throw base::Error(base::Fault::usage,
                        fmt::format("--set {}: expected NAME=VALUE with a whole number, such as N=64", text));
    values[text.substr(0, equals)] = value;
  }
  return values;
}

}  // namespace

void add_task_options(CLI::App& app, TaskOptions& options) {
  app.add_option("TASK", options.task, "A kernel file: cudal1-kernel(5)")->required();
  app.add_option("--set", options.set, "Another value for one of the task's sizes; may be given several times")
      ->option_text("NAME=VALUE")
      ->allow_extra_args(false)
      ->delimiter(',');
}

task::Task load_task(const TaskOptions& options, std::size_t memory_bytes) {
  if (options.task.ends_with(".py"))
    throw base::Error(base::Fault::bad_input, fmt::format("{}: Python tasks are not read; write the kernel file by hand, "
                                                          "as cudal1-kernel(5) describes it",
                                                          options.task));
  return task::load(options.task, overrides(options.set), memory_bytes);
}

std::size_t host_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::size_t{1} << 40;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
}

}  // namespace cudal1::cli
