// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"

#include "model/providers.hpp"
#include "task/task.hpp"

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace cudal1::cli {

// Who is asked for variants.
struct ModelOptions {
  std::vector<std::string> models = {"builtin"};
  model::Settings settings;
  std::string key_command;
  bool allow_remote = false;
};
void add_model_options(CLI::App& app, ModelOptions& options);

// Every provider: those of the part `model`, and the playbook. Without a task the playbook can be listed, not opened.
std::vector<model::Provider> all_providers(const task::Task* task);

// Opens the models. Source goes to another machine only with the user's consent: --allow-remote, the same in a
// configuration file, or a yes at the terminal. Throws base::Error.
std::vector<std::unique_ptr<model::Model>> open_models(const ModelOptions& options, const task::Task& task,
                                                       const Console& console);

}  // namespace cudal1::cli
