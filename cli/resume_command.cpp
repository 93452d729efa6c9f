// SPDX-License-Identifier: Apache-2.0
#include "resume_command.hpp"

#include "search/options.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

using store::shell_quoted;

bool goes_on(search::Stop stop) {
  using search::Stop;
  return search::resumable(stop) || stop == Stop::wall_limit || stop == Stop::token_limit || stop == Stop::cost_limit;
}

std::string resume_command(const store::Run& run) {
  if (run.command) {
    store::Command command = *run.command;
    std::error_code none;
    const bool here = std::filesystem::equivalent(command.folder, std::filesystem::current_path(none), none);
    command.drop("--again");
    command.set("--out", here ? run.folder.string() : std::filesystem::absolute(run.folder, none).string());
    return command.text();
  }
  const auto& identity = run.identity;
  const search::Options preset;
  std::string command = "cudal1 optimize " + shell_quoted(identity.task_path) + " --out " + shell_quoted(run.folder.string());
  const auto add = [&](const char* option, const std::string& value) {
    command += fmt::format(" {} {}", option, shell_quoted(value));
  };
  if (identity.device.starts_with("sim:")) {
    add("--device", "sim");
    if (identity.device != "sim:H200") add("--gpu", identity.device.substr(4, identity.device.find('@') - 4));
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
