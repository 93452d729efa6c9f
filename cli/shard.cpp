// SPDX-License-Identifier: Apache-2.0
#include "shard.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw base::Error(base::Fault::usage, message); }

int number(const std::string& text, const std::string& what) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size())
    refuse(fmt::format("{} is \"{}\", not a whole number", what, text));
  return value;
}

Shard checked(int index, int count, std::string source) {
  if (count < 1 || index < 1 || index > count)
    refuse(fmt::format("shard {} of {} ({}): give I/N with I from 1 to N", index, count, source));
  return {index, count, std::move(source)};
}

}  // namespace

bool Shard::owns(const std::string& key) const {
  const auto word = std::stoul(base::sha256(key).substr(0, 8), nullptr, 16);
  return static_cast<int>(word % static_cast<unsigned long>(count)) == index - 1;
}

Shard parse_shard(const std::string& text, const std::function<const char*(const char*)>& environment) {
  if (text.empty()) return {};
  if (text != "auto") {
    const auto slash = text.find('/');
    if (slash == std::string::npos) refuse(fmt::format("--shard {}: give I/N, such as 2/4, or auto", text));
    return checked(number(text.substr(0, slash), "--shard"), number(text.substr(slash + 1), "--shard"), "--shard");
  }
  const auto variable = [&](const char* name) -> std::optional<int> {
    const char* value = environment(name);
    return value == nullptr ? std::nullopt : std::optional<int>(number(value, name));
  };
  const auto pair = [&](const char* index_name, const char* count_name, int first) -> std::optional<Shard> {
    const auto index = variable(index_name);
    const auto count = variable(count_name);
    if (!index) return std::nullopt;
    if (!count) refuse(fmt::format("{} is set, but {} is not", index_name, count_name));
    return checked(*index - first + 1, *count, index_name);
  };
  if (auto shard = pair("CUDAL1_SHARD", "CUDAL1_SHARDS", 1)) return *shard;
  if (const auto task = variable("SLURM_ARRAY_TASK_ID")) {
    const auto count = variable("SLURM_ARRAY_TASK_COUNT");
    const auto least = variable("SLURM_ARRAY_TASK_MIN");
    if (!count || !least) refuse("SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_COUNT or SLURM_ARRAY_TASK_MIN is not");
    return checked((*task - *least) / variable("SLURM_ARRAY_TASK_STEP").value_or(1) + 1, *count, "SLURM_ARRAY_TASK_ID");
  }
  if (auto shard = pair("JOB_COMPLETION_INDEX", "CUDAL1_SHARDS", 0)) return *shard;
  if (auto shard = pair("GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", 0)) return *shard;
  return {1, 1, "nothing that names a shard is set"};
}

}  // namespace cudal1::cli
