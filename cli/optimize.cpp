// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "compile/own_headers.hpp"
#include "estimate.hpp"
#include "first_prompt.hpp"
#include "interruption.hpp"
#include "output_file.hpp"
#include "resume_command.hpp"
#include "run_options.hpp"
#include "run_progress.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "flashinfer/solution.hpp"
#include "kernel/output.hpp"
#include "model/service.hpp"
#include "report/report.hpp"
#include "reviewer/reviewer.hpp"
#include "search/search.hpp"
#include "store/run.hpp"
#include "store/memory.hpp"
#include "store/run_folder.hpp"
#include "task/module.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct OptimizeOptions {
  RunOptions run;
  std::string output, folder, reviewer;
  double review_jump = reviewer::preset_jump;
  double time_limit = 0, target = 0, share_of_limit = 0, cost_limit = 0;
  int stagnation = 0;
  long long token_limit = 0;
  bool dry_run = false, as_json = false, again = false, force = false, allow_no_improvement = false;
};

// Everything that is resolved before anything runs.
struct Plan {
  DeviceChoice choice;
  OpenTask open;
  prompt::Templates templates;
  search::Options search;
  store::Identity identity;
  std::filesystem::path folder;
};

search::Options with_limits(search::Options search, const OptimizeOptions& options) {
  if (options.time_limit > 0) search.wall_limit = base::Seconds(options.time_limit);
  if (options.target > 0) search.target_speedup = options.target;
  if (options.share_of_limit > 0) search.share_of_limit = options.share_of_limit;
  if (options.stagnation > 0) search.stagnation = options.stagnation;
  if (options.token_limit > 0) search.token_limit = options.token_limit;
  if (options.cost_limit > 0) search.cost_limit = options.cost_limit;
  return search;
}

Plan make_plan(const OptimizeOptions& options) {
  const auto& run = options.run;
  auto choice = choose_device(run.device);
  auto open = open_task(run.task, choice);
  require_known_torch_line(run.workbench, open.task);
  Plan plan{std::move(choice), std::move(open), prompt_templates(run), with_limits(search_options(run), options), {}, {}};
  plan.identity = identity_of(run, plan.open.task, plan.search, plan.choice, plan.templates);
  plan.folder = options.folder.empty() ? store::default_folder(plan.identity) : std::filesystem::path(options.folder);
  const auto before = options.again ? std::filesystem::path() : plan.folder;
  recall_memory(run, plan.open.task, plan.choice, before, plan.search, plan.identity);
  return plan;
}

ExitCode dry_run(const OptimizeOptions& options, Plan& plan, const Console& console) {
  const auto models = open_models(options.run.model, plan.open.task, precision_of(options.run.workbench, plan.open.task), console, Purpose::looking);
  WorkbenchOptions bench = options.run.workbench;
  bench.final_verdicts = false;
  Workbench workbench(plan.open, plan.choice, bench);
  const search::Start start{workbench.judge.device(), workbench.judge.reference()};
  const auto prompt = first_prompt(plan.open.task, start, plan.templates, plan.search);
  const auto expected = estimate(prompt, plan.search, models);
  std::vector<std::string> remote;
  for (const auto& model : models)
    if (model->remote()) remote.push_back(fmt::format("{} at {}", model->name(), model::address_of(*model)));
  if (options.as_json) {
    json times = json::array();
    for (const auto& time : start.reference.times) times.push_back({{"workload", time.workload}, {"time_ms", time.ms}});
    console.result(json{{"schema", 1}, {"task", plan.open.task.name()}, {"device", plan.choice.identity()}, {"reference", times},
                        {"models", options.run.model.models}, {"remote", remote}, {"replies", expected.replies},
                        {"estimated_input_tokens", expected.input_tokens},
                        {"estimated_output_tokens", expected.output_tokens},
                        {"estimated_cost_usd", expected.cost ? json(*expected.cost) : json(nullptr)},
                        {"highest_cost_usd", expected.highest_cost ? json(*expected.highest_cost) : json(nullptr)},
                        {"estimated_seconds", expected.time.count()}, {"run", plan.folder.string()}, {"system", prompt.system},
                        {"user", prompt.user}}
                       .dump(2, ' ', false, json::error_handler_t::replace) +
                   "\n");
    return ExitCode::success;
  }
  std::string text = fmt::format("{}\n\n{}\n\n", prompt.system, prompt.user);
  text += fmt::format("That is the first prompt of {} replies ({} rounds of {}) by {}: {}\n{}\nThe run would live in {}\n",
                      expected.replies, plan.search.rounds, plan.search.samples, fmt::join(options.run.model.models, ", "),
                      cli::text(expected), remote.empty() ? "Nothing leaves this machine." : fmt::format("It would be sent to {}.", fmt::join(remote, ", ")),
                      plan.folder.string());
  console.result(text);
  return ExitCode::success;
}

store::RunFolder::Existing existing(const OptimizeOptions& options) {
  if (options.again) return store::RunFolder::Existing::again;
  return options.force ? store::RunFolder::Existing::force : store::RunFolder::Existing::resume;
}

bool nothing_left(const store::RunFolder& folder, const search::Options& search) {
  const auto ended = folder.ended();
  if (search.ablate && !folder.ablated()) return false;
  if (ended == search::Stop::replies_exhausted) return true;
  return ended == search::Stop::rounds && folder.finished_rounds() >= search.rounds;
}

// Runs or goes on with the rounds; returns the signal that stopped them, or 0.
int execute(const OptimizeOptions& options, Plan& plan, const Models& models, store::RunFolder& folder, const Console& console) {
  std::vector<model::Model*> asked;
  for (const auto& model : models) asked.push_back(model.get());

  require_fit(plan.open, console);
  Interruption interruption(console);
  const auto progress = run_progress(console, plan.search.rounds, plan.search.samples, options.run.model.settings.arrivals, folder.path().string());
  WorkbenchOptions bench = options.run.workbench;
  bench.hangs = folder.path() / "hangs";
  Workbench workbench(plan.open, plan.choice, bench);
  search::JudgeReferee referee(workbench.judges());
  search::Observers observers({&folder, progress.get()});
  const auto starter = cli::starter(options.run, plan.open.task);
  plan.search.starter = starter.get();
  search::run(plan.open.task, referee, asked, plan.templates, plan.search, observers, folder, interruption.token());
  return interruption.signal();
}

Models open_reviewer(const OptimizeOptions& options, const Plan& plan, const Console& console) {
  ModelOptions asked = options.run.model;
  asked.models = {options.reviewer};
  return open_models(asked, plan.open.task, precision_of(options.run.workbench, plan.open.task), console, Purpose::asking);
}

// A second model's remark on the winner, once.
void review_winner(const OptimizeOptions& options, const Plan& plan, Models models, store::RunFolder& folder, const Console& console) {
  if (options.reviewer.empty()) return;
  const auto run = store::load(plan.folder);
  const auto* best = run.result.best();
  if (search::resumable(run.result.stopped_because) || best == nullptr || folder.reviewed(best->id)) return;
  if (const double jump = search::jump(run.result); jump < options.review_jump)
    return console.note(fmt::format("no review: the winner's score is {:.2f}x that of the next best, and --review-jump is {:.2f}", jump, options.review_jump));
  if (models.empty()) models = open_reviewer(options, plan, console);
  console.note(fmt::format("{} reviews {}", models.front()->name(), best->id));
  Interruption interruption(console);
  const auto review = reviewer::review(plan.open.task, run.result, *models.front(), plan.templates, interruption.token());
  if (review) folder.note(*review);
  else console.warn(fmt::format("no review: {}\nthe same command asks again", review.error()));
}

// The run again in the formats that are files.
void write_reports(const store::Run& run) {
  for (const auto& [format, file] : {std::pair{"markdown", "report.md"}, {"html", "report.html"}, {"json", "report.json"}})
    base::write_file(run.folder / file, report::render(run, format));
}

// Faster, or where there is no time to beat, right.
bool improved(const store::Run& run) {
  const auto* best = run.result.best();
  if (best == nullptr) return false;
  return best->verdict().verdict == outcome::Verdict::faster || (run.result.start.reference.times.empty() && best->confirmation);
}

// A kernel file as a solution of the definition that the task was taken from, where -o asks for one.
std::string as_asked(const OptimizeOptions& options, const std::string& kernel_file, const store::Run& run) {
  if (kernel_file.empty() || !options.output.ends_with(".json")) return kernel_file;
  const auto definition = flashinfer::read_definition(base::read_file(options.run.task.task, std::size_t{16} << 20), options.run.task.task);
  const auto* best = run.result.best();
  const std::string said = best == nullptr || !improved(run) ? "The plain kernels that cudal1 takes as reference."
                                                              : fmt::format("cudal1 {}: {}", outcome::name(best->verdict().verdict), best->verdict().message);
  const auto binding = options.output.ends_with(".sol.json") ? flashinfer::Binding::torch : flashinfer::Binding::tvm_ffi;
  return flashinfer::solution(definition, kernel_file, run.result.start.device.name, said, binding);
}

// What goes to -o; the task's own kernel where nothing is faster and that is fine. Empty: nothing.
std::string output_text(const OptimizeOptions& options, const task::Task& task, const store::Run& run) {
  if (improved(run) && !run.best_file.empty()) return base::read_file(run.best_file);
  const bool own = options.allow_no_improvement && !task::is_module(task) && !goes_on(run.result.stopped_because);
  return own ? compile::with_own_headers(kernel::output_file(task.file, task.file, {})) : "";
}

// Says what became of -o. What cannot be written any more (a full disk) is no reason to keep the report back.
bool write_output(const OptimizeOptions& options, const task::Task& task, const store::Run& run, const Console& console) {
  if (options.output.empty()) return true;
  try {
    const std::string text = as_asked(options, output_text(options, task, run), run);
    if (text.empty()) {
      console.warn(fmt::format("{} is not written: nothing faster was found", options.output));
      return true;
    }
    base::write_file(options.output, text);
    console.note(fmt::format("wrote {}{}", options.output, improved(run) ? "" : ": the task's own kernel, because nothing faster was found"));
    return true;
  } catch (const base::Error& error) {
    console.warn(fmt::format("{}{}", error.what(), run.best_file.empty() ? "" : fmt::format("; the fastest kernel is in {}", run.best_file)));
    return false;
  }
}

ExitCode exit_code(const store::Run& run, int signal, bool fallback, bool allow_no_improvement) {
  using search::Stop;
  switch (run.result.stopped_because) {
    case Stop::interrupted: return signal == 0 ? ExitCode::interrupted : static_cast<ExitCode>(128 + signal);
    case Stop::model_unreachable:
    case Stop::no_credit: return ExitCode::model_unreachable;
    case Stop::key_denied: return ExitCode::credentials;
    case Stop::request_rejected: return ExitCode::usage;
    default: break;
  }
  if (goes_on(run.result.stopped_because)) return ExitCode::resumable;
  if (!improved(run)) return allow_no_improvement ? ExitCode::success : ExitCode::nothing_faster;
  return fallback ? ExitCode::predicted_only : ExitCode::success;
}

ExitCode run_optimize(const OptimizeOptions& options, const store::Command& command, const Console& console) {
  require_writable(options.output, {options.run.task.task, options.run.start_from});
  if (options.output.ends_with(".json") && !flashinfer::is_definition(options.run.task.task))
    throw base::Error(base::Fault::usage, fmt::format("-o {}: a solution answers a definition.json, and the task {} is none; name a .cu", options.output, options.run.task.task));
  auto plan = make_plan(options);
  say_device(plan.choice, options.run.workbench, console);
  if (options.dry_run) return dry_run(options, plan, console);

  int signal = 0;
  {
    // A key or a consent that is missing leaves no run behind; a finished run is shown without either.
    Models models, reviewer;
    if (options.again || !std::filesystem::exists(plan.folder)) {
      models = models_to_ask(options.run, plan.open.task, plan.search, console);
      if (!options.reviewer.empty()) reviewer = open_reviewer(options, plan, console);
    }
    store::RunFolder folder(plan.folder, plan.open.task, plan.identity, existing(options));
    if (nothing_left(folder, plan.search)) {
      console.note(folder.ended() == search::Stop::rounds
                       ? fmt::format("this run is finished; --again repeats it, --rounds {} goes on", plan.search.rounds + 1)
                       : "this run is finished, its models have no further reply; --again repeats it");
    } else {
      console.note(fmt::format("{} {}", folder.resumed() ? "going on with" : "the run is", folder.path().string()));
      if (models.empty()) models = models_to_ask(options.run, plan.open.task, plan.search, console);
      if (reviewer.empty() && !options.reviewer.empty()) reviewer = open_reviewer(options, plan, console);
      store::write_command(folder.path(), command);
      signal = execute(options, plan, models, folder, console);
    }
    if (signal == 0) review_winner(options, plan, std::move(reviewer), folder, console);
  }
  const auto run = store::load(plan.folder);
  if (!options.run.memory.empty() && !goes_on(run.result.stopped_because)) store::remember(options.run.memory, run, plan.open.task);
  write_reports(run);
  const bool written = write_output(options, plan.open.task, run, console);
  if (options.as_json) console.result(report::render(run, "json"));
  else console.print(report::render(run, "terminal", {console.colour(stdout), console.width(stdout)}));
  if (goes_on(run.result.stopped_because))
    console.warn(fmt::format("{}\ngo on with the same command, or with: {}", run.result.reason, resume_command(run)));
  else
    console.note(fmt::format("it stopped because {}", run.result.reason));
  console.note(fmt::format("report: {}{}", (plan.folder / "report.html").string(),
                           improved(run) ? ", fastest kernel: " + run.best_file : ""));
  return written ? exit_code(run, signal, plan.choice.fallback, options.allow_no_improvement) : ExitCode::not_written;
}

}  // namespace

void add_optimize(CommandLine& line) {
  auto options = std::make_shared<OptimizeOptions>();
  Arguments app = line.add("optimize", "Make a kernel faster in contrastive rounds", main_group,
                           [options, &line] { return run_optimize(*options, line.given(), line.console); });
  app.add_option("-o,--output", options->output, "Write the fastest kernel here, ready for nvcc, or for a definition.json as a solution, cudal1-flashinfer(7)")->option_text("FILE");
  app.add_option("--out", options->folder, "The run's folder [default: cudal1-runs/TASK-DIGEST]")->option_text("DIR");
  app.add_flag("--dry-run", options->dry_run, "Show the first prompt, its address and the estimated cost, and stop");
  app.add_flag("--json", options->as_json, "Print one JSON object instead of the report");
  app.add_flag("--again", options->again, "Move an earlier run of the same command aside and start afresh");
  app.add_flag("--force", options->force, "Resume a run although driver, version or device differ");
  app.add_flag("--allow-no-improvement", options->allow_no_improvement, "When nothing faster was found, exit with 0 and write the task's own kernel to -o");
  add_run_options(app, options->run);
  app.add_option("--review", options->reviewer, "Ask a second model whether a winner that is far ahead is a cheat; its answer is a remark in the report")
      ->option_text("MODEL")
      ->group("Search");
  app.add_option("--review-jump", options->review_jump, "A winner is reviewed if its score is this many times the next best")
      ->option_text("RATIO")
      ->check(Check::positive())
      ->group("Search");
  app.add_option("--confirmations", options->run.search.confirmations, "The most variants that get a final verdict")
      ->option_text("N")
      ->check(Check::between(1, 1000))
      ->group("Search");
  const auto limit = [&](const char* name, auto& value, const char* text, const char* help) {
    app.add_option(name, value, help)->option_text(text)->default_str("")->check(Check::positive())->group("Stop early");
  };
  limit("--time-limit", options->time_limit, "SECONDS", "Stop after this time; the same command resumes the run");
  limit("--target", options->target, "SPEEDUP", "Stop once a variant is this much faster");
  limit("--share-of-limit", options->share_of_limit, "SHARE", "Stop once a variant reaches this share of the speed of light, 0 to 1");
  limit("--stagnation", options->stagnation, "ROUNDS", "Stop after this many rounds without an improvement");
  limit("--token-limit", options->token_limit, "N", "Stop once the replies took this many tokens");
  limit("--cost-limit", options->cost_limit, "DOLLARS", "Stop once the replies cost this much");
}

}  // namespace cudal1::cli
