// SPDX-License-Identifier: Apache-2.0
#include "model_options.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "model/service.hpp"
#include "playbook/playbook.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

void require_consent(const model::Model& model, const task::Task& task, bool allowed, const Console& console) {
  if (!model.remote() || allowed) return;
  const auto answer = console.ask(fmt::format("Send the source of {} to {} at {}?", task.path.string(), model.name(), model::address_of(model)));
  if (answer.value_or(false)) return;
  throw base::Error(base::Fault::usage,
                    fmt::format("{} at {} is on another machine and would be sent the source of {}; agree with --allow-remote, "
                                "or once and for all with `allow-remote = true` in the user's configuration file",
                                model.name(), model::address_of(model), task.path.string()));
}

// The one of "VALUE" and "PROVIDER=VALUE" that holds for a model; the narrower wins, then the later.
std::string value_for(const std::vector<std::string>& values, const std::string& model) {
  const std::string provider = model.substr(0, model.find_first_of("/:"));
  std::string general, own;
  for (const auto& value : values) {
    const auto equals = value.find('=');
    const bool named = equals != std::string::npos && equals > 0 &&
                       std::all_of(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(equals),
                                   [](unsigned char c) { return std::islower(c) != 0; });
    if (!named) general = value;
    else if (value.substr(0, equals) == provider) own = value.substr(equals + 1);
  }
  return own.empty() ? general : own;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

model::Settings settings_of(const ModelOptions& options, const Console& console, Purpose purpose) {
  model::Settings settings = options.settings;
  settings.connect_limit = base::Seconds(options.connect_limit);
  settings.first_byte_limit = base::Seconds(options.first_byte_limit);
  settings.idle_limit = base::Seconds(options.idle_limit);
  settings.longest_wait = base::Seconds(options.longest_wait);
  settings.command_limit = base::Seconds(options.command_limit);
  settings.with_keys = purpose == Purpose::asking;
  if (options.temperature >= 0) settings.temperature = options.temperature;
  if (options.top_p >= 0) settings.top_p = options.top_p;
  for (const auto& field : settings.request_fields) model::check_request_field(field);
  if (!options.prices.empty()) settings.prices = std::make_shared<model::Prices>(options.prices);
  settings.quirks = std::make_shared<model::QuirkStore>(base::cache_folder());
  // In front of a status line that may stand there.
  const std::string start = console.terminal(stderr) ? "\r\033[K" : "";
  settings.note = [&console, start](const std::string& text) { console.note(start + base::printable(text)); };
  if (options.verbose) settings.trace = [&console, start](const std::string& text) { console.warn(start + base::printable(text)); };
  return settings;
}

// Where the service of one model is, and its key.
void place(model::Settings& settings, const ModelOptions& options, const std::string& model) {
  settings.base_url = value_for(options.base_urls, model);
  settings.key_variable = value_for(options.key_variables, model);
  settings.key_command = words_of(value_for(options.key_commands, model));
  if (!settings.key_variable.empty() && !base::named_like_a_key(settings.key_variable))
    throw base::Error(base::Fault::usage,
                      fmt::format("--key-variable {}: its name must hold KEY, TOKEN or SECRET, so that it is withheld from "
                                  "processes that have no use for it",
                                  settings.key_variable));
}

}  // namespace

void add_service_options(Arguments app, ModelOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* text, const char* help) {
    return app.add_option(name, value, help)->option_text(text)->group("Model");
  };
  add("--base-url", options.base_urls, "[PROVIDER=]URL", "Another address of the model's service")->one_value();
  add("--key-variable", options.key_variables, "[PROVIDER=]NAME", "The environment variable that holds the service's key")
      ->one_value();
  add("--key-command", options.key_commands, "[PROVIDER=]COMMAND",
      "A program, with arguments separated by spaces, that prints the service's key")
      ->one_value();
  add("--ca-bundle", options.settings.ca_bundle, "FILE", "A file with the certificates of the trusted authorities");
  add("--connect-limit", options.connect_limit, "SECONDS", "The longest wait for a connection; 0: no limit")
      ->check(Check::not_negative());
}

void add_model_options(Arguments app, ModelOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* text, const char* help) {
    return app.add_option(name, value, help)->option_text(text)->group("Model");
  };
  auto& settings = options.settings;
  add("--model", options.models, "MODEL[,MODEL…]", "The model, or several, to ask for variants; see `cudal1 models`")
      ->default_str("builtin")
      ->one_value()
      ->delimiter(',');
  app.add_flag("--allow-remote", options.allow_remote, "Agree that the task's source is sent to a remote model")->group("Model");
  add_service_options(app, options);
  add("--effort", settings.effort, "WORD", "Reasoning effort, in the service's own words");
  add("--output-tokens", settings.output_tokens, "N", "The most tokens of one reply")->check(Check::positive());
  add("--context-tokens", settings.context_tokens, "N", "The most tokens of prompt and reply together (ollama)")
      ->check(Check::positive());
  app.add_flag("--send-seed", settings.send_seed, "Send a seed with each request, where the service takes one")->group("Model");
  app.add_option("--temperature", options.temperature, "Temperature of the model's sampling; default: the service's own")
      ->option_text("T")
      ->default_str("")
      ->check(Check::not_negative())
      ->group("Model");
  app.add_option("--top-p", options.top_p, "Nucleus (top-p) of the model's sampling; default: the service's own")
      ->option_text("P")
      ->default_str("")
      ->check(Check::not_negative())
      ->group("Model");
  add("--request-field", settings.request_fields, "NAME=JSON", "A further field of every request, as in top_k=40 or options.min_p=0.05; may be given several times")
      ->one_value();
  add("--parallel", settings.parallel, "N", "The most requests to one service at the same time")->check(Check::between(1, 256));
  add("--retries", settings.retries, "N", "How often a failed request is tried again")->check(Check::between(0, 100));
  add("--longest-wait", options.longest_wait, "SECONDS", "The longest pause that a service may ask for")->check(Check::not_negative());
  add("--first-byte-limit", options.first_byte_limit, "SECONDS", "The longest wait for the first part of a reply; 0: no limit")
      ->check(Check::not_negative());
  add("--idle-limit", options.idle_limit, "SECONDS", "The longest silence within a reply; 0: no limit")
      ->check(Check::not_negative());
  add("--command-limit", options.command_limit, "SECONDS", "The longest wait for a reply from a program (cmd:)")
      ->check(Check::positive());
  add("--commands", settings.commands, "N", "The number of programs that run at the same time (cmd:)")->check(Check::between(1, 256));
  add("--prices", options.prices, "FILE", "A JSON file with prices of models, beside the built-in ones");
  app.add_flag("--verbose", options.verbose, "Report every request to a service: its size, status and time")->group("Model");
}

std::vector<model::Provider> all_providers(const task::Task* task, outcome::Precision precision) {
  std::vector<model::Provider> all;
  all.push_back({"builtin", "rules instead of a network: no key, no download, the same answers every time",
                 [=](const std::string&, const model::Settings&) { return playbook::open(*task, precision); }});
  for (const auto& provider : model::providers()) all.push_back(provider);
  return all;
}

std::vector<std::unique_ptr<model::Model>> open_models(const ModelOptions& options, const task::Task& task, outcome::Precision precision,
                                                       const Console& console, Purpose purpose) {
  auto settings = settings_of(options, console, purpose);
  const auto known = all_providers(&task, precision);
  std::vector<std::unique_ptr<model::Model>> models;
  for (const auto& name : options.models) {
    place(settings, options, name);
    models.push_back(model::open(name, settings, known));
    if (purpose == Purpose::asking) require_consent(*models.back(), task, options.allow_remote, console);
  }
  return models;
}

std::unique_ptr<model::Model> open_service(const ModelOptions& options, const std::string& provider, const Console& console) {
  std::vector<std::string> prefixes;
  for (const auto& known : model::providers()) {
    if (!known.prefix.ends_with('/')) continue;
    prefixes.push_back(known.prefix);
    if (known.prefix != provider + '/' && known.prefix != provider) continue;
    auto settings = settings_of(options, console, Purpose::asking);
    place(settings, options, known.prefix);
    return known.open("", settings);
  }
  const auto near = base::nearest(provider + '/', prefixes);
  throw base::Error(base::Fault::usage,
                    fmt::format("{} is no provider with a service{}; `cudal1 models` lists them, as in `cudal1 models ollama`", provider,
                                near ? fmt::format("; did you mean {}?", near->substr(0, near->size() - 1)) : ""));
}

}  // namespace cudal1::cli
