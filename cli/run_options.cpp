// SPDX-License-Identifier: Apache-2.0
#include "run_options.hpp"

#include "output_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "model/service.hpp"
#include "playbook/playbook.hpp"
#include "store/memory.hpp"
#include "store/run.hpp"
#include "task/kind.hpp"

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

constexpr std::pair<const char*, search::Sampling> samplings[] = {
    {"buckets", search::Sampling::buckets},
    {"islands", search::Sampling::islands},
    {"random", search::Sampling::random},
    {"none", search::Sampling::none},
};

constexpr const char* builtin = "builtin";  // --start-from; a file of this name is ./builtin
bool starts_from_builtin(const RunOptions& options) { return options.start_from == builtin; }

}  // namespace

void add_run_options(Arguments app, RunOptions& options) {
  add_task_options(app, options.task);
  add_model_options(app, options.model);
  add_device_options(app, options.device);
  add_search_options(app, options);
  add_accept_degenerate(app, options.workbench);
}

void add_search_options(Arguments app, RunOptions& options) {
  auto& search = options.search;
  app.add_option("--rounds", search.rounds, "Contrastive rounds")
      ->option_text("N")
      ->check(Check::between(1, 1000))
      ->group("Search");
  app.add_option("--samples", search.samples, "The number of variants that each round asks for")
      ->option_text("K")
      ->check(Check::between(1, 1000))
      ->group("Search");
  app.add_option("--exemplars", search.exemplars, "The number of earlier variants that a prompt shows")
      ->option_text("N")
      ->check(Check::between(0, 8))
      ->group("Search");
  app.add_option("--sampling", options.sampling, "How those are chosen")
      ->option_text("buckets|islands|random|none")
      ->check(Check::one_of({"buckets", "islands", "random", "none"}))
      ->group("Search");
  app.add_option("--tau", search.tau, "Temperature of the choice of earlier variants; a lower one prefers fast variants more")
      ->option_text("T")
      ->check(Check::positive())
      ->group("Search");
  app.add_option("--bucket-width", search.bucket_width, "Scores whose logarithms differ by less than this share a bucket")
      ->option_text("W")
      ->check(Check::positive())
      ->group("Search");
  app.add_flag("--ablate", search.ablate, "At the end, measure what each technique of the winner brought")
      ->group("Search");
  app.add_flag("--no-repair", options.no_repair, "Do not ask the model to repair an answer that failed")->group("Search");
  app.add_option("--hint", search.hint, "A sentence of yours that every prompt contains")->option_text("TEXT")->group("Search");
  app.add_option("--start-from", options.start_from, "A kernel file that enters the search as the first variant, or `builtin` for answers of the built-in model, as many as a round has")
      ->option_text("FILE|builtin")
      ->group("Search");
  app.add_flag("--hide-scores", options.hide_scores, "For controlled experiments: prompts show earlier variants in random order and without scores")->group("Search");
  app.add_option("--memory", options.memory, "A folder that keeps what runs learnt about techniques and failures; later runs with it see that in their prompts")
      ->option_text("DIR")
      ->group("Search");
  app.add_option("--prompts", options.prompts, "A folder whose files replace the built-in prompts of the same name")
      ->option_text("DIR")
      ->group("Search");
  add_judge_options(app, options.workbench);
}

search::Options search_options(const RunOptions& options) {
  search::Options result = options.search;
  result.seed = options.workbench.seed;
  result.repair = !options.no_repair;
  for (const auto& [name, sampling] : samplings)
    if (options.sampling == name) result.sampling = sampling;
  result.show_scores = !options.hide_scores;
  if (!options.start_from.empty() && !starts_from_builtin(options)) result.start_from = base::read_file(options.start_from);
  return result;
}

prompt::Templates prompt_templates(const RunOptions& options) {
  return options.prompts.empty() ? prompt::Templates() : prompt::Templates(options.prompts);
}

store::Identity identity_of(const RunOptions& options, const task::Task& task, const search::Options& search, const DeviceChoice& choice,
                            const prompt::Templates& templates) {
  auto identity = store::identity(task, search, options.model.models, choice.identity(), choice.facts.driver, CUDAL1_VERSION,
                                  templates.digest());
  if (starts_from_builtin(options)) identity.start_from_digest = builtin;
  identity.has_memory = !options.memory.empty();
  identity.precision = std::string(outcome::name(precision_of(options.workbench, task)));
  return identity;
}

void recall_memory(const RunOptions& options, const task::Task& task, const DeviceChoice& choice, const std::filesystem::path& folder,
                   search::Options& search, store::Identity& identity) {
  if (options.memory.empty()) return;
  require_writable_folder("--memory", options.memory);
  std::error_code none;
  identity.memory = std::filesystem::exists(folder / "journal.jsonl", none) ? store::load(folder).identity.memory
                                                                            : store::recall(options.memory, task::kind(task), choice.facts.name);
  search.memory = identity.memory;
}

std::unique_ptr<model::Model> starter(const RunOptions& options, const task::Task& task) {
  return starts_from_builtin(options) ? playbook::open(task, precision_of(options.workbench, task)) : nullptr;
}

Models models_to_ask(const RunOptions& options, const task::Task& task, const search::Options& search, const Console& console) {
  auto models = open_models(options.model, task, precision_of(options.workbench, task), console, Purpose::asking);
  for (const auto& model : models)
    if (search.cost_limit && !model->price(0, 0) && !model::reports_cost(*model))
      throw base::Error(base::Fault::usage, fmt::format("--cost-limit: the price of {} is not known; --prices FILE can tell it", model->name()));
  return models;
}

}  // namespace cudal1::cli
