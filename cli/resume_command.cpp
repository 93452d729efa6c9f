// SPDX-License-Identifier: Apache-2.0
#include "resume_command.hpp"

#include "search/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

bool goes_on(search::Stop stop) {
  using search::Stop;
  return search::resumable(stop) || stop == Stop::wall_limit || stop == Stop::token_limit || stop == Stop::cost_limit;
}

std::string shell_quoted(const std::string& word) {
  static constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:/,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string resume_command(const store::Run& run) {
  const auto& identity = run.identity;
  const search::Options preset;
  std::string command = "cudal1 optimize " + shell_quoted(identity.task_path) + " --out " + shell_quoted(run.folder.string());
  const auto add = [&](const char* option, const std::string& value) {
    command += fmt::format(" {} {}", option, shell_quoted(value));
  };
  if (identity.device.starts_with("sim:")) {
    add("--device", "sim");
    if (identity.device != "sim:H200") add("--gpu", identity.device.substr(4));
  } else {
    add("--device", identity.device.substr(0, identity.device.find(' ')));
  }
  if (identity.models != std::vector<std::string>{"builtin"}) add("--model", fmt::format("{}", fmt::join(identity.models, ",")));
  if (identity.seed != preset.seed) add("--seed", std::to_string(identity.seed));
  if (identity.samples != preset.samples) add("--samples", std::to_string(identity.samples));
  if (identity.exemplars != preset.exemplars) add("--exemplars", std::to_string(identity.exemplars));
  if (identity.sampling != "buckets") add("--sampling", identity.sampling);
  if (identity.tau != preset.tau) add("--tau", fmt::format("{}", identity.tau));
  if (identity.bucket_width != preset.bucket_width) add("--bucket-width", fmt::format("{}", identity.bucket_width));
  if (!identity.repair) command += " --no-repair";
  if (!identity.hint.empty()) add("--hint", identity.hint);
  return command;
}

}  // namespace cudal1::cli
