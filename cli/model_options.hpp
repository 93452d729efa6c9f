// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "console.hpp"

#include "model/providers.hpp"
#include "outcome/precision.hpp"
#include "task/task.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cudal1::cli {

// Who is asked for variants.
struct ModelOptions {
  std::vector<std::string> models = {"builtin"};
  std::vector<std::string> base_urls, key_commands, key_variables;  // "VALUE" for all, "PROVIDER=VALUE" for one
  model::Settings settings;
  double temperature = -1, top_p = -1;   // below 0: not sent
  double connect_limit = 10, first_byte_limit = 900, idle_limit = 300, longest_wait = 120, command_limit = 900;
  std::string prices;
  bool allow_remote = false, verbose = false;
};
void add_model_options(Arguments app, ModelOptions& options);
void add_service_options(Arguments app, ModelOptions& options);  // those of them that say where a service is, and its key

// Every provider: those of the part `model`, and the playbook. Without a task the playbook can be listed, not opened.
std::vector<model::Provider> all_providers(const task::Task* task, outcome::Precision precision = outcome::Precision::fp32);

enum class Purpose {
  asking,   // source goes to another machine only with the user's consent: --allow-remote, the same in a configuration
            // file, or a yes at the terminal
  looking,  // without keys; nothing can be asked
};

// Opens the models. Throws base::Error.
std::vector<std::unique_ptr<model::Model>> open_models(const ModelOptions& options, const task::Task& task, outcome::Precision precision,
                                                       const Console& console, Purpose purpose);

// The service of one provider ("ollama"), for whatever model. Throws base::Error.
std::unique_ptr<model::Model> open_service(const ModelOptions& options, const std::string& provider, const Console& console);

}  // namespace cudal1::cli
