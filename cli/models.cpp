// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "model_options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct Options {
  bool as_json = false;
};

ExitCode run(const Options& options, const Console& console) {
  std::string text;
  json list = json::array();
  for (const auto& provider : all_providers(nullptr)) {
    text += fmt::format("{:<14} {}\n", provider.prefix, provider.summary);
    list.push_back({{"prefix", provider.prefix}, {"summary", provider.summary}});
  }
  console.result(options.as_json ? json{{"schema", 1}, {"providers", list}}.dump(2) + "\n" : text);
  return ExitCode::success;
}

}  // namespace

void add_models(CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App& app = line.add("models", "Who can be asked for variants (--model)", surroundings_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
