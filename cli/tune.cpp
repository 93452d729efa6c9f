// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "interruption.hpp"
#include "output_file.hpp"
#include "status_line.hpp"
#include "task_options.hpp"
#include "tuned_configuration.hpp"
#include "workbench.hpp"

#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "compile/own_headers.hpp"
#include "judge/candidate.hpp"
#include "kernel/output.hpp"
#include "report/formats.hpp"
#include "report/wording.hpp"
#include "search/tuning.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

struct TuneOptions {
  std::string file, output, t4;
  std::vector<std::string> set, where;
  DeviceOptions device;
  WorkbenchOptions workbench;
  int budget = 1000;
  double time_limit = 0;
  bool again = false, as_json = false, energy = false;
};

constexpr base::Seconds energy_time{0.5};   // of running each combination
constexpr std::size_t most_racers = 16;
constexpr std::size_t shown = 10;

// The user's kernel as a task, which is its first combination, and as the family of all.
struct Tuned {
  std::string source;
  kernel::File file;
  kernel::Environment first;                 // combination of the file: 1.00x
  std::vector<kernel::Environment> family;   // that --where leaves
  OpenTask open;
};

std::vector<kernel::Environment> chosen(const std::vector<kernel::Environment>& all, const std::vector<std::string>& where) {
  std::vector<kernel::Environment> left;
  std::vector<kernel::Expression> conditions;
  for (const auto& text : where) {
    auto parsed = kernel::Expression::parse(text, "--where");
    if (!parsed) throw base::Error(base::Fault::usage, base::render(parsed.error()));
    conditions.push_back(*std::move(parsed));
  }
  for (const auto& member : all) {
    bool holds = true;
    for (const auto& condition : conditions) {
      const auto value = condition.evaluate(member);
      if (!value) throw base::Error(base::Fault::usage, base::render(value.error()));
      holds = holds && std::visit([](auto one) { return one != decltype(one){}; }, *value);
    }
    if (holds) left.push_back(member);
  }
  if (left.empty()) throw base::Error(base::Fault::usage, fmt::format("--where {}: no combination is left", fmt::join(where, " --where ")));
  return left;
}

Tuned read(const TuneOptions& options, const DeviceChoice& choice) {
  Tuned tuned;
  tuned.source = base::read_file(options.file, std::size_t{16} << 20);
  auto parsed = kernel::parse(tuned.source, options.file);
  if (!parsed) throw base::Error(base::Fault::bad_task, base::render(parsed.error()));
  tuned.file = *std::move(parsed);
  if (tuned.file.tunables.empty())
    throw base::Error(base::Fault::bad_task, fmt::format("{}: it has no tunables; to make BLOCK one, add a line such as //@ tune BLOCK = 128 | 256 | 512 and remove the constant from the code", options.file));
  const auto members = kernel::family(tuned.file);
  if (!members) throw base::Error(base::Fault::bad_task, base::render(members.error()));
  tuned.first = members->front();
  tuned.family = chosen(*members, options.where);
  const std::size_t memory = choice.device == "sim" ? host_memory_bytes() / 2 : choice.facts.memory_bytes;
  tuned.open.task = task::from_source(kernel::output_file(tuned.file, tuned.file, tuned.first), options.file, overrides(options.set), memory);
  return tuned;
}

TunedCache cache_of(const Tuned& tuned, const TuneOptions& options, const DeviceChoice& choice) {
  std::string key = tuned.source + "\n" + CUDAL1_VERSION + "\n" + choice.identity() + "\n" + options.workbench.precision + "\n";
  for (const auto& workload : tuned.open.task.workloads) key += "\n" + workload.label();
  return TunedCache(base::cache_folder() / "tuned" / (base::sha256(key).substr(0, 32) + ".jsonl"));
}

// Judges what the order gives until its end, and what stopped it.
class Tuner {
 public:
  Tuner(const TuneOptions& options, Tuned& tuned, Workbench& workbench, const TunedCache& cache, const Console& console)
      : options_(options), tuned_(tuned), workbench_(workbench), cache_(cache), console_(console),
        order_(tuned.family, static_cast<std::size_t>(options.budget), options.workbench.seed) {
    if (options.again) cache_.forget();
    // A later line knows more: the energy too.
    for (auto& one : cache_.read()) known_.insert_or_assign(label(one.tunables), std::move(one));
  }

  std::string run() {
    const Interruption interruption(console_, "stopping once the configurations at hand are judged");
    StatusLine status(console_);
    const base::Seconds began = base::now();
    for (auto batch = order_.next(base::cores()); !batch.empty(); batch = order_.next(base::cores())) {
      status.show(fmt::format("{} of {} combinations judged{}", configurations.size(), tuned_.family.size(), best_label()));
      std::vector<TunedConfiguration> judged(batch.size());
      base::in_parallel(batch.size(), [&](std::size_t i) { judged[i] = judge(tuned_.family[batch[i]]); });
      for (std::size_t i = 0; i < batch.size(); ++i) {
        order_.told(batch[i], judged[i].judgement.score());
        if (!judged[i].remembered) cache_.add(judged[i]);
        configurations.push_back(std::move(judged[i]));
      }
      if (interruption.token().stop_requested()) return "interrupted";
      if (options_.time_limit > 0 && (base::now() - began).count() > options_.time_limit) return "time limit";
    }
    return order_.exhaustive() ? "all" : "budget";
  }

  std::optional<std::size_t> best() const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < configurations.size(); ++i)
      if (configurations[i].ms() > 0 && (!found || configurations[i].judgement.score() > configurations[*found].judgement.score())) found = i;
    return found;
  }

  // On a GPU those that the best cannot be told from are timed in turns.
  std::string race(std::size_t& best) {
    std::vector<std::size_t> racers;
    const double least = configurations[best].judgement.speedup ? configurations[best].judgement.speedup->low : 0;
    for (std::size_t i = 0; i < configurations.size(); ++i)
      if (i == best || (configurations[i].ms() > 0 && configurations[i].judgement.speedup && configurations[i].judgement.speedup->high >= least)) racers.push_back(i);
    std::sort(racers.begin(), racers.end(), [&](std::size_t a, std::size_t b) { return configurations[a].judgement.score() > configurations[b].judgement.score(); });
    racers.resize(std::min(racers.size(), most_racers));
    if (racers.size() < 2) return "";
    std::vector<judge::Entrant> entrants;
    for (const std::size_t i : racers) entrants.push_back({tuned_.source, options_.file, configurations[i].tunables});
    const auto raced = workbench_.judge.race(entrants);
    if (!raced) return "";
    if (raced->standings.empty()) return "no race: " + raced->problem;
    best = racers[raced->fastest];
    return fmt::format("{} combinations that one measurement could not tell apart were timed in turns: {} is the fastest", racers.size(), label(configurations[best].tunables));
  }

  // Of the right ones whose energy is not known yet. Why it cannot be had; empty: it can.
  std::string measure_energy() {
    StatusLine status(console_);
    std::size_t done = 0;
    for (auto& one : configurations) {
      status.show(fmt::format("energy of {} of {} combinations", ++done, configurations.size()));
      if (one.ms() == 0 || one.judgement.energy_mj > 0) continue;
      const auto measured = workbench_.judge.energy_mj({tuned_.source, options_.file, one.tunables}, energy_time);
      if (!measured) return "energy was not measured: the device has no meter that NVML reads";
      one.judgement.energy_mj = *measured;
      cache_.add(one);
    }
    return "";
  }

  std::vector<TunedConfiguration> configurations;

 private:
  std::string best_label() const {
    const auto found = best();
    return found ? fmt::format("; best {} {:.3g}x", label(configurations[*found].tunables), configurations[*found].judgement.score()) : "";
  }

  // The file with one value for each tunable, so that nothing else is chosen.
  TunedConfiguration judge(const kernel::Environment& member) const {
    const Tunables tunables = judge::integers(member);
    if (const auto known = known_.find(label(tunables)); known != known_.end()) return known->second;
    kernel::File one = tuned_.file;
    for (kernel::Tunable& tunable : one.tunables) tunable.values = {tunables.at(tunable.name)}, tunable.condition = {};
    auto judgement = workbench_.judge.screen(kernel::print(one) + "\n" + kernel::code(one), options_.file);
    return {tunables, std::move(judgement), base::timestamp(), false};
  }

  const TuneOptions& options_;
  Tuned& tuned_;
  Workbench& workbench_;
  const TunedCache& cache_;
  const Console& console_;
  search::TuningOrder order_;
  std::map<std::string, TunedConfiguration> known_;
};

std::string table(const TuningSummary& summary, const report::Style& style) {
  report::Document document;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < summary.configurations.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return summary.configurations[a].judgement.score() > summary.configurations[b].judgement.score();
  });
  const bool energy = std::any_of(summary.configurations.begin(), summary.configurations.end(), [](const auto& one) { return one.judgement.energy_mj > 0; });
  report::Table best{{"combination", "verdict", "speed-up", "time", "registers", "limited by"}, {}, {false, false, true, true, true, false}};
  if (energy) best.columns.insert(best.columns.begin() + 4, "energy"), best.numeric.insert(best.numeric.begin() + 4, true);
  std::size_t wrong = 0;
  for (const auto& one : summary.configurations) wrong += outcome::is_right(one.judgement.verdict) ? 0 : 1;
  for (std::size_t i = 0; i < std::min(order.size(), shown); ++i) {
    const auto& one = summary.configurations[order[i]];
    int registers = 0;
    for (const auto& kernel : one.judgement.resources) registers = std::max(registers, kernel.registers);
    best.rows.push_back({label(one.tunables), report::verdict(one.judgement), one.judgement.speedup ? report::text(*one.judgement.speedup) : "", one.ms() > 0 ? report::milliseconds(one.ms()) : "",
                         registers > 0 ? std::to_string(registers) : "", one.judgement.workloads.empty() ? one.judgement.message : one.judgement.workloads.front().limited_by});
    if (energy) best.rows.back().insert(best.rows.back().begin() + 4, one.judgement.energy_mj > 0 ? fmt::format("{:.3g} mJ", one.judgement.energy_mj) : "");
  }
  document.push_back(std::move(best));
  // What each value is good for: the best time that any combination with it has.
  report::Table values{{"tunable", "value", "best time with it", "combinations"}, {}, {false, true, true, true}};
  for (const auto& [name, list] : summary.tunables)
    for (const std::int64_t value : list) {
      double least = 0;
      std::size_t count = 0;
      for (const auto& one : summary.configurations) {
        if (one.tunables.at(name) != value) continue;
        ++count;
        if (one.ms() > 0 && (least == 0 || one.ms() < least)) least = one.ms();
      }
      values.rows.push_back({name, std::to_string(value), least > 0 ? report::milliseconds(least) : "", std::to_string(count)});
    }
  document.push_back(std::move(values));
  document.push_back(report::Paragraph{fmt::format("{} of {} combinations judged ({}), {} of them not right. 1.00x is {}.", summary.configurations.size(), summary.combinations,
                                                   summary.stopped_because, wrong, label(summary.first))});
  if (!summary.race.empty()) document.push_back(report::Paragraph{summary.race + "."});
  if (summary.best < summary.configurations.size())
    document.push_back(report::Paragraph{fmt::format("best: {}: {} {} (final verdict)", label(summary.configurations[summary.best].tunables), report::verdict(summary.final_judgement),
                                                     summary.final_judgement.speedup ? report::text(*summary.final_judgement.speedup) : ""),
                                         report::Paragraph::Kind::verdict});
  return report::draw_for_terminal(document, style);
}

void write_output(const TuneOptions& options, const Tuned& tuned, const Tunables& best) {
  std::vector<std::string> labels;
  for (const auto* list : {&tuned.open.task.workloads, &tuned.open.task.checks})
    for (const auto& workload : *list) labels.push_back(workload.label());
  base::write_file(options.output, compile::with_own_headers(kernel::output_file(tuned.file, tuned.file, {best.begin(), best.end()})) + kernel::verified_comment(labels));
}

ExitCode run_tune(const TuneOptions& options, const Console& console) {
  require_writable(options.output, {options.file});
  require_writable(options.t4, {options.file});
  const auto choice = choose_device(options.device);
  Tuned tuned = read(options, choice);
  say_device(choice, options.workbench, console);
  Workbench workbench(tuned.open, choice, options.workbench);
  const auto reference = workbench.judge.reference();
  for (const auto& warning : workbench.judge.warnings()) console.note(warning);
  const TunedCache cache = cache_of(tuned, options, choice);
  Tuner tuner(options, tuned, workbench, cache, console);

  TuningSummary summary{tuned.open.task.name(), choice.identity(), reference.predicted, static_cast<std::size_t>(options.budget) >= tuned.family.size(), tuned.family.size(),
                        tuner.run(), judge::integers(tuned.first), {}, {}, 0, {}, ""};
  for (const auto& tunable : tuned.file.tunables) summary.tunables.emplace_back(tunable.name, tunable.values);
  auto best = tuner.best();
  if (best) {
    summary.race = tuner.race(*best);
    if (options.energy)
      if (const std::string problem = tuner.measure_energy(); !problem.empty()) console.note(problem);
    summary.final_judgement = workbench.judge.confirm(tuned.source, options.file, tuner.configurations[*best].tunables);
  }
  summary.configurations = std::move(tuner.configurations);
  summary.best = best.value_or(summary.configurations.size());
  const bool right = best && outcome::is_right(summary.final_judgement.verdict);
  if (!options.t4.empty()) base::write_file(options.t4, t4_results(summary));
  if (right && !options.output.empty()) write_output(options, tuned, summary.configurations[*best].tunables);
  if (options.as_json) console.result(tuning_json(summary));
  else console.print(table(summary, {console.colour(stdout), console.width(stdout)}));
  if (!right) return ExitCode::bad_input;
  if (summary.stopped_because == "interrupted" || summary.stopped_because == "time limit") return ExitCode::resumable;
  return choice.fallback ? ExitCode::predicted_only : ExitCode::success;
}

}  // namespace

void add_tune(CommandLine& line) {
  auto options = std::make_shared<TuneOptions>();
  Arguments app = line.add("tune", "Find the best combination of a kernel's own tunables, without a model", manual_group, [options, &line] { return run_tune(*options, line.console); });
  app.add_option("FILE", options->file, "A kernel file with tune lines")->required();
  app.add_option("-o,--output", options->output, "Write the best combination here, ready for nvcc")->option_text("FILE");
  app.add_option("--budget", options->budget, "The most combinations to judge; of more, neighbours of the best come first")->option_text("N")->check(Check::between(1, 4096));
  app.add_option("--time-limit", options->time_limit, "Begin no further combination after this time; the same command resumes the search")->option_text("SECONDS")->default_str("")->check(Check::positive());
  app.add_option("--where", options->where, "A further condition on combinations, such as \"BLOCK * VEC <= 1024\"")->option_text("CONDITION")->one_value();
  app.add_flag("--energy", options->energy, "Measure the energy of each right combination, too, by NVML: a second column");
  app.add_option("--t4", options->t4, "Write all combinations as a results file of the T4 format")->option_text("FILE");
  app.add_option("--set", options->set, "Another value for one of the file's sizes")->option_text("NAME=VALUE")->one_value();
  app.add_flag("--again", options->again, "Judge combinations again that an earlier run judged");
  app.add_flag("--json", options->as_json, "Print one JSON object");
  add_device_options(app, options->device);
  add_judge_options(app, options->workbench);
}

}  // namespace cudal1::cli
