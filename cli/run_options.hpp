// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "device_options.hpp"
#include "model_options.hpp"
#include "task_options.hpp"
#include "workbench.hpp"

#include "prompt/templates.hpp"
#include "search/options.hpp"
#include "store/identity.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cudal1::cli {

// What makes a run the run it is; shared by `optimize`, `sweep` and `prompt`.
struct RunOptions {
  TaskOptions task;
  DeviceOptions device;
  ModelOptions model;
  WorkbenchOptions workbench;
  search::Options search;
  std::string sampling = "buckets", start_from, prompts;
  bool no_repair = false, hide_scores = false;
};
void add_run_options(Arguments app, RunOptions& options);
void add_search_options(Arguments app, RunOptions& options);  // all but task, model and device

// The search's options with every text resolved: the seed, the source to start from. Throws base::Error.
search::Options search_options(const RunOptions& options);
prompt::Templates prompt_templates(const RunOptions& options);

// What makes a run this one and no other.
store::Identity identity_of(const RunOptions& options, const task::Task& task, const search::Options& search, const DeviceChoice& choice,
                            const prompt::Templates& templates);

// The model whose answers the search starts from, with --start-from builtin; else null. The task must outlive it.
std::unique_ptr<model::Model> starter(const RunOptions& options, const task::Task& task);

// The models, opened to be asked. Throws base::Error(usage) for a limit of cost where a price is not known.
using Models = std::vector<std::unique_ptr<model::Model>>;
Models models_to_ask(const RunOptions& options, const task::Task& task, const search::Options& search, const Console& console);

}  // namespace cudal1::cli
