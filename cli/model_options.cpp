// SPDX-License-Identifier: Apache-2.0
#include "model_options.hpp"

#include "base/error.hpp"
#include "playbook/playbook.hpp"

#include <sstream>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

void require_consent(const model::Model& model, const task::Task& task, bool allowed, const Console& console) {
  if (!model.remote() || allowed) return;
  const auto answer = console.ask(fmt::format("Send the source of {} to {}?", task.path.string(), model.name()));
  if (answer.value_or(false)) return;
  throw base::Error(base::Fault::usage,
                    fmt::format("{} runs on another machine and would be sent the source of {}; agree with --allow-remote, "
                                "or once and for all with `allow-remote = true` in the user's configuration file",
                                model.name(), task.path.string()));
}

}  // namespace

void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("--model", options.models, "Who is asked for variants, one or several; see `cudal1 models`")
      ->option_text("MODEL[,MODEL…]")
      ->default_str("builtin")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->group("Model");
  app.add_flag("--allow-remote", options.allow_remote, "Agree that the task's source is sent to a remote model")
      ->group("Model");
  app.add_option("--base-url", options.settings.base_url, "Another address of the model's service")
      ->option_text("URL")
      ->group("Model");
  app.add_option("--key-command", options.key_command,
                 "A program, with arguments separated by spaces, that prints the key of the model's service")
      ->option_text("COMMAND")
      ->group("Model");
  app.add_option("--effort", options.settings.effort, "Reasoning effort, in the service's own words")
      ->option_text("WORD")
      ->group("Model");
  app.add_option("--output-tokens", options.settings.output_tokens, "Most tokens that one reply may take")
      ->option_text("N")
      ->check(CLI::PositiveNumber)
      ->group("Model");
}

std::vector<model::Provider> all_providers(const task::Task* task) {
  std::vector<model::Provider> all;
  all.push_back({"builtin", "rules instead of a network: no key, no download, the same answers every time",
                 [task](const std::string&, const model::Settings&) { return playbook::open(*task); }});
  for (const auto& provider : model::providers()) all.push_back(provider);
  return all;
}

std::vector<std::unique_ptr<model::Model>> open_models(const ModelOptions& options, const task::Task& task,
                                                       const Console& console) {
  model::Settings settings = options.settings;
  std::istringstream words(options.key_command);
  for (std::string word; words >> word;) settings.key_command.push_back(word);
  const auto known = all_providers(&task);
  std::vector<std::unique_ptr<model::Model>> models;
  for (const auto& name : options.models) {
    models.push_back(model::open(name, settings, known));
    require_consent(*models.back(), task, options.allow_remote, console);
  }
  return models;
}

}  // namespace cudal1::cli
