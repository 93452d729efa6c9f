// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "model_options.hpp"

#include "base/text.hpp"
#include "model/service.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct ModelsOptions {
  ModelOptions model;
  std::string provider;
  bool as_json = false;
};

// What the service of one provider has, as values of --model.
ExitCode list_models(const ModelsOptions& options, const Console& console) {
  const auto service = open_service(options.model, options.provider, console);
  const auto models = model::served_models(*service);
  std::string text;
  json list = json::array();
  for (const auto& served : models) {
    const auto name = service->name() + base::printable(served.name);
    text += served.context_tokens > 0 ? fmt::format("{:<40} context of {} tokens\n", name, served.context_tokens) : name + "\n";
    list.push_back({{"model", name}, {"context_tokens", served.context_tokens > 0 ? json(served.context_tokens) : json(nullptr)}});
  }
  console.result(options.as_json ? json{{"schema", 1}, {"models", list}}.dump(2, ' ', false, json::error_handler_t::replace) + "\n" : text);
  if (models.empty()) console.note("it has no model");
  return ExitCode::success;
}

ExitCode list_providers(const ModelsOptions& options, const Console& console) {
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
  auto options = std::make_shared<ModelsOptions>();
  Arguments app = line.add("models", "List the models that can be asked for variants (--model)", surroundings_group,
                           [options, &line] { return (options->provider.empty() ? list_providers : list_models)(*options, line.console); });
  app.add_option("PROVIDER", options->provider, "List the models of this provider's service, such as ollama");
  add_service_options(app, options->model);
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
