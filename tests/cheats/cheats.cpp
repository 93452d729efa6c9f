// SPDX-License-Identifier: Apache-2.0
// Every row of the table of cheats: judged with all defences, and again without its own. A row is a kernel file whose
// first lines, marked //!, say which task it answers and what must come of it:
//
//   //! row   A1                        //! task  scale             a file in tasks/, scale.cu or the PyTorch module
//                                                                 scale.py; none: the row is a task itself
//   //! how   one sentence              //! with  tf32              the precision class
//   //! judge screen|final|twice        //! limit 3                 seconds for one execution
//   //! all   STATEFUL                  on every device, or sim, or gpu
//   //! all   WRONG_RESULT without state
//
// Words of an expectation are alternatives; + joins what must hold together: verdicts, labels, right, not_faster,
// general (no label SPECIALISED), sanitizer_passed, refused_again or ran_again (judged twice), accepted (a task).
#include "base/defence.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "compile/compiler.hpp"
#include "judge/judge.hpp"
#include "reference/truth.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace cudal1;

namespace {

std::set<std::string> absent;  // names of the defences that are off in this process

std::filesystem::path folder = CUDAL1_CHEATS;
std::optional<std::uint64_t> chosen_seed;  // of inputs; empty: secret
std::unique_ptr<pytorch::Host> host;  // warm from module to module
std::string no_host;                // why there is none

struct Expectation {
  std::string device;                 // "all", "sim", "gpu"
  std::vector<std::string> outcomes;
  std::vector<std::string> without;
};

struct Row {
  std::string name, id, how, task, judge = "screen", lacks, source, path;
  outcome::Precision precision = outcome::Precision::fp32;
  double limit = 20;
  std::vector<Expectation> expectations;
};

struct Result {
  const Row* row;
  const Expectation* expectation;
  std::string got, message;
  bool as_expected = false;
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ') word += c;
    else if (!word.empty()) words.push_back(std::exchange(word, ""));
  }
  return words;
}

Expectation expectation_of(const std::string& device, const std::string& text) {
  Expectation expectation{device, {}, {}};
  bool without = false;
  for (const std::string& word : words_of(text)) {
    if (word == "without") without = true;
    else (without ? expectation.without : expectation.outcomes).push_back(word);
  }
  for (const std::string& name : expectation.without)
    if (std::find(base::defence_names.begin(), base::defence_names.end(), name) == base::defence_names.end())
      throw base::Error(base::Fault::bad_input, "there is no defence " + name);
  return expectation;
}

Row read_row(const std::filesystem::path& path) {
  Row row;
  row.name = path.stem().string();
  row.path = path.string();
  row.source = base::read_file(path);
  for (const std::string& line : base::split_lines(row.source)) {
    if (!line.starts_with("//! ")) continue;
    const std::string text = line.substr(4);
    const std::string key = text.substr(0, text.find(' '));
    const std::string value(base::trim(std::string_view(text).substr(key.size())));
    if (key == "row") row.id = value;
    else if (key == "how") row.how = value;
    else if (key == "task") row.task = value;
    else if (key == "judge") row.judge = value;
    else if (key == "lacks") row.lacks = value;
    else if (key == "limit") row.limit = std::stod(value);
    else if (key == "with") row.precision = outcome::parse_precision(value).value();
    else if (key == "all" || key == "sim" || key == "gpu") row.expectations.push_back(expectation_of(key, value));
    else throw base::Error(base::Fault::bad_input, fmt::format("{}: unknown line: {}", row.path, line));
  }
  return row;
}

std::vector<Row> read_rows() {
  std::vector<std::filesystem::path> paths;
  for (const char* part : {"rows", "controls", "gate"})
    for (const auto& entry : std::filesystem::directory_iterator(folder / part)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Row> rows;
  for (const auto& path : paths) rows.push_back(read_row(path));
  return rows;
}

std::map<std::string, std::int64_t> smaller_sizes(const std::string& source) {
  std::map<std::string, std::int64_t> sizes;
  const std::string mark = "//! sim ";
  const std::size_t at = source.find(mark);
  if (at == std::string::npos) return sizes;
  std::string list = source.substr(at + mark.size(), source.find('\n', at) - at - mark.size());
  std::replace(list.begin(), list.end(), ',', ' ');
  for (const std::string& word : words_of(list)) sizes[word.substr(0, word.find('='))] = std::stoll(word.substr(word.find('=') + 1));
  return sizes;
}

base::Program worker(const std::string& which) {
  return {std::filesystem::read_symlink("/proc/self/exe"), {"worker", which, fmt::format("{}", fmt::join(absent, ","))}};
}

std::filesystem::path module_of(const Row& row) {
  const auto path = folder / "tasks" / (row.task + ".py");
  return !row.task.empty() && std::filesystem::exists(path) ? path : std::filesystem::path();
}

// PyTorch, for tasks that are modules; nullptr where there is none.
pytorch::Host* pytorch_on(const std::string& device) {
  try {
    if (!host && no_host.empty()) host = std::make_unique<pytorch::Host>(pytorch::Options{"", device == "sim" ? "cpu" : device, 0});
  } catch (const base::Error& error) {
    no_host = error.what();
  }
  return host.get();
}

// A judge of one task without some defences.
struct Court {
  Court(const Row& row, const std::string& device)
      : task(load(row, device)), compiler(warm_compiler()), judge(task, *compiler, options(row, device)) {}

  static task::Task load(const Row& row, const std::string& device) {
    if (const auto module = module_of(row); !module.empty()) return pytorch_on(device)->open(module, {}, std::numeric_limits<std::size_t>::max());
    const auto path = row.task.empty() ? std::filesystem::path(row.path) : folder / "tasks" / (row.task + ".cu");
    const std::string source = base::read_file(path);
    return task::from_source(source, path, device == "sim" ? smaller_sizes(source) : std::map<std::string, std::int64_t>{});
  }
  // One for all courts without the same defences: a compile process takes longer to start than to compile.
  static std::shared_ptr<compile::Compiler> warm_compiler() {
    static std::shared_ptr<compile::Compiler> warm;
    static std::set<std::string> without;
    if (!warm || without != absent) {
      warm = std::make_shared<compile::Compiler>(compiler_options());
      without = absent;
    }
    return warm;
  }
  static compile::CompilerOptions compiler_options() {
    compile::CompilerOptions options;
    options.worker = worker("compile");
    options.limits.time = base::Seconds{60};
    options.sandbox = compile::sandbox_state().available;
    return options;
  }
  static judge::Options options(const Row& row, const std::string& device) {
    judge::Options result;
    result.device = device;
    result.worker = worker("device");
    result.run_limit = base::Seconds{row.limit};
    result.precision = row.precision;
    result.seed = chosen_seed;
    if (!module_of(row).empty()) result.pytorch = host.get();
    return result;
  }

  task::Task task;
  std::shared_ptr<compile::Compiler> compiler;
  judge::Judge judge;
};

// What a task yields for inputs that are the same in every run.
std::vector<reference::Expected> known_outputs(const task::Task& task, bool at_check, std::vector<reference::Bytes>& inputs) {
  constexpr std::uint64_t seed = 42;
  const task::Workload& workload = at_check ? task.checks.front() : task.workloads.front();
  const reference::Trial trial = at_check ? reference::trials(task, workload, seed, 2, true, outcome::Precision::fp32).front() : reference::Trial{reference::Pattern::declared, seed};
  inputs = reference::inputs(task, workload, trial);
  return *reference::oracle(task, workload, inputs, std::nullopt, 1);
}

void replace(std::string& source, const std::string& mark, const std::string& text) {
  if (const std::size_t at = source.find(mark); at != std::string::npos) source.replace(at, mark.size(), text);
}

// Tables that a cheat would need for inputs known beforehand.
std::string with_tables(std::string source, const task::Task& task) {
  for (const bool at_check : {true, false}) {
    const std::string place = at_check ? "check@" : "size@";
    if (source.find("at " + place) == std::string::npos) continue;
    std::vector<reference::Bytes> inputs;
    const auto outputs = known_outputs(task, at_check, inputs);
    replace(source, "@outputs at " + place, fmt::format("{:.9g}", fmt::join(outputs.front().truth, ", ")));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      double sum = 0;
      for (const double value : reference::decode(task.file.buffers[i].dtype, inputs[i])) sum += value;
      replace(source, fmt::format("@sum of {} at {}", task.file.buffers[i].name, place), fmt::format("{:.9g}f", sum));
    }
  }
  return source;
}

// Everything that can be said of an outcome, the verdict first.
std::vector<std::string> words_of(const outcome::Judgement& judgement) {
  std::vector<std::string> words{outcome::name(judgement.verdict)};
  if (outcome::is_right(judgement.verdict)) {
    words.emplace_back("right");
    if (judgement.verdict != outcome::Verdict::faster) words.emplace_back("not_faster");
    if (!judgement.labels.contains(outcome::Label::specialised)) words.emplace_back("general");
  }
  if (!judgement.sanitizer.empty()) words.emplace_back("sanitizer_" + judgement.sanitizer);
  for (const auto label : judgement.labels) words.emplace_back(outcome::name(label));
  return words;
}

bool holds(const std::string& alternative, const std::vector<std::string>& words) {
  std::string joined = alternative;
  std::replace(joined.begin(), joined.end(), '+', ' ');
  const auto parts = words_of(joined);
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) { return std::find(words.begin(), words.end(), part) != words.end(); });
}

std::vector<std::string> judge_task(Court& court, std::string& message) {
  try {
    std::vector<std::string> words{"accepted"};
    for (const auto& finding : court.judge.reference().findings) {
      words.insert(words.begin(), std::string(outcome::name(finding.verdict)));
      message = finding.reason;
    }
    return words;
  } catch (const base::Error& error) {
    message = error.what();
    for (const auto verdict : {outcome::TaskVerdict::broken, outcome::TaskVerdict::unstable, outcome::TaskVerdict::degenerate})
      if (message.find(outcome::name(verdict)) != std::string::npos) return {std::string(outcome::name(verdict))};
    return {"refused"};
  }
}

Result judge(const Row& row, const Expectation& expectation, Court& court) {
  Result result{&row, &expectation, "", "", false};
  std::vector<std::string> words;
  if (row.task.empty()) {
    words = judge_task(court, result.message);
  } else {
    const std::string source = with_tables(row.source, court.task);
    const std::string file = row.name + ".cu";
    auto judgement = row.judge == "final" ? court.judge.confirm(source, file, {}) : court.judge.screen(source, file);
    result.message = judgement.message;
    words = words_of(judgement);
    if (row.judge == "twice") {
      judgement = court.judge.screen(source, file);
      words.emplace_back(judgement.message.find("not run again") != std::string::npos ? "refused_again" : "ran_again");
    }
    if (!row.lacks.empty() && outcome::to_json(judgement).find(row.lacks) != std::string::npos) words = {"LEAKED"};
  }
  result.as_expected = std::any_of(expectation.outcomes.begin(), expectation.outcomes.end(),
                                   [&](const std::string& alternative) { return holds(alternative, words); });
  result.got = words.front();
  for (const std::string& word : words)
    if (word == "SPECIALISED" || (row.judge == "final" && word.starts_with("sanitizer_")) || word == "refused_again" || word == "ran_again") result.got += ", " + word;
  std::replace(result.got.begin(), result.got.end(), '_', ' ');
  return result;
}

// Whether a name contains one of the texts of a list that commas separate.
bool listed(const std::string& name, std::string list) {
  std::replace(list.begin(), list.end(), ',', ' ');
  const auto texts = words_of(list);
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return name.find(text) != std::string::npos; });
}

std::string table(const std::vector<Row>& rows, const std::vector<Result>& results) {
  std::string text = "| row | kernel | how it works | with every defence | without … |\n| --- | --- | --- | --- | --- |\n";
  for (const Row& row : rows) {
    std::string with, without;
    for (const Result& result : results) {
      if (result.row != &row) continue;
      const std::string verdict = result.as_expected ? result.got : "**" + result.got + ", not as expected**";
      if (result.expectation->without.empty()) with = verdict;
      else without += fmt::format("{}{}: {}", without.empty() ? "" : "; ", fmt::join(result.expectation->without, " and "), verdict);
    }
    if (!with.empty()) text += fmt::format("| {} | `{}` | {} | {} | {} |\n", row.id, row.name, row.how, with, without.empty() ? "–" : without);
  }
  return text;
}

int run(const std::string& device, const std::string& only, const std::string& but, const std::string& output) {
  const auto rows = read_rows();
  struct Case {
    std::string court;                // equal: one judge serves both
    const Row* row;
    const Expectation* expectation;
  };
  std::vector<Case> cases;
  for (const Row& row : rows)
    for (const Expectation& expectation : row.expectations) {
      if (expectation.device != "all" && (expectation.device == "sim") != (device == "sim")) continue;
      if ((!only.empty() && !listed(row.name, only)) || listed(row.name, but)) continue;
      cases.push_back({fmt::format("{} {} {} {}", fmt::join(expectation.without, ","), row.task.empty() ? row.name : row.task,
                                   outcome::name(row.precision), row.limit),
                       &row, &expectation});
    }
  std::stable_sort(cases.begin(), cases.end(), [](const Case& left, const Case& right) { return left.court < right.court; });

  std::vector<Result> results;
  std::string failures;  // their lines once more, at the end of a long output
  int skipped = 0;
  std::unique_ptr<Court> court;
  std::string sitting;
  for (const Case& one : cases) {
    const base::Seconds began = base::now();
    if (!module_of(*one.row).empty() && pytorch_on(device) == nullptr) {
      if (skipped++ == 0) std::printf("modules are skipped: %s\n", no_host.c_str());
      continue;
    }
    try {
      if (!court || sitting != one.court) {
        court.reset();
        absent = {one.expectation->without.begin(), one.expectation->without.end()};
        court = std::make_unique<Court>(*one.row, device);
        sitting = one.court;
      }
      results.push_back(judge(*one.row, *one.expectation, *court));
    } catch (const base::Error& error) {
      results.push_back({one.row, one.expectation, "the tool failed", error.what(), false});
      court.reset();
    }
    const Result& result = results.back();
    const std::string line = fmt::format("{} {:<26} {:<24} {:<28} {:5.1f} s  {}\n", result.as_expected ? "ok  " : "FAIL", one.row->name,
                                         fmt::to_string(fmt::join(one.expectation->without, " ")), result.got,
                                         (base::now() - began).count(), result.message.substr(0, 150));
    if (!result.as_expected) failures += "not as expected: " + line.substr(5);
    fmt::print("{}", line);
    std::fflush(stdout);
    if (!output.empty()) base::write_file(output, table(rows, results));
  }
  const auto failed = std::count_if(results.begin(), results.end(), [](const Result& result) { return !result.as_expected; });
  fmt::print("{}", failures);
  std::printf("%zu of %zu as expected on %s, %d skipped\n", results.size() - static_cast<std::size_t>(failed), results.size(), device.c_str(), skipped);
  return failed == 0 && !results.empty() ? 0 : 1;
}

void leave_out(const std::string& names) {
  std::string list = names;
  std::replace(list.begin(), list.end(), ',', ' ');
  for (const std::string& name : words_of(list)) absent.insert(name);
}

}  // namespace

namespace cudal1::base {

// In place of the library's own, which has no switch.
bool defended(Defence defence) { return !absent.contains(std::string(defence_names[static_cast<std::size_t>(defence)])); }

}  // namespace cudal1::base

// cheats DEVICE [--only TEXTS] [--but TEXTS] [--markdown FILE] [--folder DIR] [--seed NUMBER]
int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "worker") {
    if (arguments.size() > 2) leave_out(arguments[2]);
    return arguments[1] == "compile" ? compile::worker_main() : judge::worker_main();
  }
  std::string device = "sim", only, but, output;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--only" && i + 1 < arguments.size()) only = arguments[++i];
    else if (arguments[i] == "--but" && i + 1 < arguments.size()) but = arguments[++i];
    else if (arguments[i] == "--seed" && i + 1 < arguments.size()) chosen_seed = std::stoull(arguments[++i]);
    else if (arguments[i] == "--folder" && i + 1 < arguments.size()) folder = arguments[++i];
    else if (arguments[i] == "--markdown" && i + 1 < arguments.size()) output = arguments[++i];
    else device = arguments[i];
  }
  if (device == "sim" && compile::find_nvrtc().library.empty()) {
    std::printf("skipped: no NVRTC here\n");
    return 77;
  }
  try {
    return run(device, only, but, output);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
