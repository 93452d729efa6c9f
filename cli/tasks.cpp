// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "judge_sessions.hpp"
#include "task_listing.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "curriculum/sampler.hpp"
#include "curriculum/structure.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct MakeOptions {
  JudgeSessionsOptions sessions = usual_judge_sessions();
  std::string out = "tasks";
  int count = 100, operations = 4, versions = 2;
  double least_us = 5, most_us = 2000;
  std::vector<std::string> exclude;
  bool no_check = false;
};

struct ListOptions {
  std::vector<std::string> tasks;
  std::string python, split = "all";
};

struct AuditOptions {
  std::vector<std::string> train, test;
  std::string python;
  double near = 0.9;
  bool as_json = false;
};

// What became of the samples that are no tasks.
struct Refused {
  int excluded = 0, known = 0, unsound = 0, fast = 0, slow = 0, faults = 0;
};

// A sample while its reference is looked at.
struct Sample {
  curriculum::Sampled made;
  ListedTask listed;
  docket::Fault fault = docket::Fault::none;
  std::string reason;
  double ms = 0;
};

// Compiles, verifies and times the references of samples, all at once.
void check(docket::Docket& docket, std::vector<Sample>& samples) {
  for (Sample& sample : samples) {
    docket::Request request;
    request.task.source = sample.made.source;
    request.mode = docket::Mode::warm;
    while (!docket.submit(request, [&sample](const docket::Ruling& ruling) {
      sample.fault = ruling.fault;
      sample.reason = ruling.reason;
    })) docket.wait_for_room();
  }
  docket.finish();
  for (Sample& sample : samples) {
    docket::TaskName name;
    name.source = sample.made.source;
    const auto text = docket.text_of(name);
    const auto warm = text ? docket.warm(text->key) : nullptr;
    if (warm && !warm->start.reference.times.empty()) sample.ms = warm->start.reference.times.front().ms;
  }
}

bool in_band(const Sample& sample, const MakeOptions& options, Refused& refused, const Console& console) {
  if (options.no_check) return true;
  const double us = 1000 * sample.ms;
  if (sample.fault == docket::Fault::task) {
    ++refused.unsound;
    if (sample.reason.find("TASK_") == std::string::npos) console.warn(fmt::format("{}: {}\n{}", sample.made.name, sample.reason, sample.made.torch));
  } else if (sample.fault != docket::Fault::none) ++refused.faults;
  else if (us < options.least_us) ++refused.fast;
  else if (us > options.most_us) ++refused.slow;
  else return true;
  return false;
}

ExitCode make(const MakeOptions& options, const Console& console) {
  std::set<std::string> excluded, known;
  for (const ListedTask& task : list_tasks(options.exclude, options.sessions.python).tasks) excluded.insert(task.structure);
  JudgeSessions sessions(options.sessions, console);
  docket::Docket docket(sessions.opener(), sessions.limits());
  const curriculum::SamplerOptions sampler{options.sessions.workbench.seed, options.operations};
  Refused refused;
  std::string index;
  int made = 0, tests = 0;
  constexpr std::uint64_t longest_wave = 32, tries_for_one = 100;
  std::uint64_t wave = 0;
  for (std::uint64_t number = 0; made < options.count && number < tries_for_one * static_cast<std::uint64_t>(options.count); number += wave) {
    wave = std::min(longest_wave, 1 + static_cast<std::uint64_t>(options.count - made) / static_cast<std::uint64_t>(options.versions));
    std::vector<Sample> samples;
    for (std::uint64_t i = number; i < number + wave; ++i) {
      for (int version = 0; version < options.versions; ++version) {
        Sample sample{curriculum::sample(sampler, i, version), {}, {}, {}, 0};
        sample.listed = listed(task::from_source(sample.made.source, sample.made.name + ".cu"), sample.made.name + ".cu");
        if (version == 0) {
          const bool again = !known.insert(sample.listed.structure).second, out = excluded.contains(sample.listed.structure);
          refused.known += again && !out ? 1 : 0;
          refused.excluded += out ? 1 : 0;
          if (again || out) break;
        }
        samples.push_back(std::move(sample));
      }
    }
    if (!options.no_check) check(docket, samples);
    for (const Sample& sample : samples) {
      if (made == options.count || !in_band(sample, options, refused, console)) continue;
      ++made;
      tests += sample.listed.test ? 1 : 0;
      base::write_file(std::filesystem::path(options.out) / sample.listed.file, sample.made.source);
      index += to_line(sample.listed);
    }
    console.note(fmt::format("{} of {} tasks", made, options.count));
  }
  base::write_file(std::filesystem::path(options.out) / "tasks.jsonl", index);
  console.result(fmt::format("{} tasks in {}, {} of them for testing only; left out: {} with a structure that exists already, {} excluded, {} degenerate, {} too quick, {} too slow, {} not judged\n", made,
                             options.out, tests, refused.known, refused.excluded, refused.unsound, refused.fast, refused.slow, refused.faults));
  return made == options.count ? ExitCode::success : ExitCode::failed_items;
}

ExitCode split(const ListOptions& options, const Console& console) {
  const Listing listing = list_tasks(options.tasks, options.python);
  for (const ListedTask& task : listing.tasks)
    if (options.split == "all" || (options.split == "test") == task.test) console.result(to_line(task));
  if (listing.left_out > 0) console.note(fmt::format("{} files are no tasks that can be read", listing.left_out));
  return ExitCode::success;
}

// The training task that is nearest to a test task, by its torch line.
std::pair<const ListedTask*, double> nearest(const ListedTask& task, const std::vector<ListedTask>& among) {
  std::pair<const ListedTask*, double> best{nullptr, -1};
  for (const ListedTask& other : among) {
    const double similarity = task.structure == other.structure ? 1 : curriculum::similarity(task.structure, other.structure);
    if (similarity > best.second) best = {&other, similarity};
  }
  return best;
}

ExitCode audit(const AuditOptions& options, const Console& console) {
  const auto train = list_tasks(options.train, options.python), test = list_tasks(options.test, options.python);
  int equal = 0, near = 0;
  json rows = json::array();
  std::string text;
  std::set<std::string> seen;
  for (const ListedTask& task : test.tasks) {
    if (!seen.insert(task.structure).second) continue;
    const auto [other, similarity] = nearest(task, train.tasks);
    if (other == nullptr) continue;
    const bool same = task.structure == other->structure;
    equal += same ? 1 : 0;
    near += !same && similarity > options.near ? 1 : 0;
    rows.push_back({{"test", task.name}, {"group", task.group}, {"nearest", other->name}, {"equal", same}, {"similarity", similarity}});
    text += fmt::format("{:5.2f}{} {}  ~  {}\n", similarity, same ? " EQUAL" : similarity > options.near ? " NEAR " : "      ", task.name, other->name);
  }
  const std::string summary = fmt::format("{} structures of {} test tasks against {} training tasks: {} equal, {} above {:g}", seen.size(), test.tasks.size(), train.tasks.size(), equal, near, options.near);
  if (options.as_json)
    console.result(json{{"schema", 1}, {"structures", seen.size()}, {"equal", equal}, {"near", near}, {"tests", rows}}.dump(2) + "\n");
  else console.print(text + summary + "\n");
  return equal + near > 0 ? ExitCode::failed_items : ExitCode::success;
}

void add_make(CommandLine& line, Arguments parent) {
  auto options = std::make_shared<MakeOptions>();
  options->sessions.device.device = "sim";
  Arguments app = line.add(parent, "make", "Sample torch lines with plain kernels", "Commands", [options, &line] { return make(*options, line.console); });
  app.add_option("--out", options->out, "Where the tasks and their list tasks.jsonl are written")->option_text("DIR");
  app.add_option("--count", options->count, "Tasks")->option_text("N")->check(Check::between(1, 1000000));
  app.add_option("--operations", options->operations, "The most operations of one torch line")->option_text("N")->check(Check::between(1, 12));
  app.add_option("--versions", options->versions, "The number of tasks with the same structure and different sizes; every second one has 16-bit inputs")->option_text("N")->check(Check::between(1, 64));
  app.add_option("--least-us", options->least_us, "Least time of a reference, in microseconds")->option_text("MICROSECONDS")->check(Check::not_negative());
  app.add_option("--most-us", options->most_us, "Most time of a reference")->option_text("MICROSECONDS")->check(Check::positive());
  app.add_option("--exclude", options->exclude, "Make no task with the structure of one of these tasks, such as a benchmark's; may be given several times")->option_text("PATH")->one_value();
  app.add_flag("--no-check", options->no_check, "Do not compile, verify and time the references");
  add_judge_sessions_options(app, options->sessions);
}

}  // namespace

void add_tasks(CommandLine& line) {
  Arguments app = line.add("tasks", "Make, split and compare tasks for training", surroundings_group, nullptr);
  add_make(line, app);
  auto list = std::make_shared<ListOptions>();
  Arguments split_app = line.add(app, "split", "Print the structure of each task, and whether it is for testing only", "Commands", [list, &line] { return split(*list, line.console); });
  split_app.add_option("TASKS", list->tasks, "Files or folders of tasks")->required();
  split_app.add_option("--split", list->split, "Only these")->option_text("all|train|test")->check(Check::one_of({"all", "train", "test"}));
  split_app.add_option("--python", list->python, "The interpreter with PyTorch, for .py tasks [default: python3]")->option_text("PROGRAM");
  auto both = std::make_shared<AuditOptions>();
  Arguments audit_app = line.add(app, "audit", "Say whether the training tasks contain what is tested", "Commands", [both, &line] { return audit(*both, line.console); });
  audit_app.add_option("--train", both->train, "The tasks that training sees, or a file of dataset; may be given several times")->option_text("PATH")->one_value()->required();
  audit_app.add_option("--test", both->test, "The tasks to test with, or a file of dataset; may be given several times")->option_text("PATH")->one_value()->required();
  audit_app.add_option("--near", both->near, "Two structures whose similarity is above this count as alike")->option_text("SHARE")->check(Check::not_negative());
  audit_app.add_option("--python", both->python, "The interpreter with PyTorch, for .py tasks [default: python3]")->option_text("PROGRAM");
  audit_app.add_flag("--json", both->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
