// SPDX-License-Identifier: Apache-2.0
// A PyTorch module and answers to it on a GPU, step by step.
//   figure_kernelbench DEVICE [--set NAME=VALUE]… [--baseline NAME]… [--quick] TASK.py ANSWER.cu|ANSWER.py…
// Prints the task's interface, what opening, the gate, the baselines and each judgement took, and each judgement as JSON.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "judge/answer.hpp"
#include "judge/judge.hpp"

#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace cudal1;

namespace {

int run(int argc, char** argv) {
  judge::Options options;
  options.device = argv[1];
  options.worker = {base::own_executable(), {"worker", "device"}};
  std::map<std::string, std::int64_t> overrides;
  std::vector<std::string> files, baselines;
  bool quick = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--set") {
      const std::string text = argv[++i];
      overrides[text.substr(0, text.find('='))] = std::stoll(text.substr(text.find('=') + 1));
    } else if (word == "--baseline") {
      baselines.emplace_back(argv[++i]);
    } else if (word == "--quick") {
      quick = true;
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (!baselines.empty()) options.baselines = baselines;
  base::Seconds last = base::now();
  const auto lap = [&](const std::string& what) {
    fmt::print("{:<28} {:8.3f} s\n", what, (base::now() - last).count());
    std::fflush(stdout);
    last = base::now();
  };
  pytorch::Host host({"", options.device == "sim" ? "cpu" : options.device, 0});
  lap("PyTorch starts");
  const task::Task task = host.open(files.front(), overrides, std::size_t{1} << 40);
  fmt::print("  torch line: {}\n", task.torch ? "yes" : task.no_oracle_reason);
  lap("the task is opened");
  for (const pytorch::Defect& defect : host.examine(1e-4)) fmt::print("  gate: {}\n", defect.kind);
  lap("the gate");
  compile::CompilerOptions compiling;
  compiling.worker = {base::own_executable(), {"worker", "compile"}};
  compiling.sandbox = false;
  compile::Compiler compiler(compiling);
  std::optional<judge::Judge> judge;
  options.pytorch = &host;
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (pytorch::is_module(files[i])) {
      judge.reset();
      judge::AnswerOptions asked;
      asked.process = {host.python(), options.device == "sim" ? "cpu" : options.device, false};
      asked.overrides = overrides;
      asked.baselines = options.baselines;
      fmt::print("{}\n", outcome::to_json(judge::judge_answer(host, task, files[i], asked)));
      lap(files[i]);
      continue;
    }
    if (!judge) {
      judge.emplace(task, compiler, options);
      lap("the worker starts");
      const judge::ReferenceFacts& reference = judge->reference();
      fmt::print("  oracle: {}\n  {}\n", reference.note, outcome::to_json(reference.judgement));
      lap("the reference");
    }
    const std::string source = base::read_file(files[i]);
    const auto screened = judge->screen(source, files[i]);
    fmt::print("  KernelBench would take it at {:.2g}\n{}\n", screened.errors.kernelbench_tolerance, outcome::to_json(screened));
    lap("screening " + files[i]);
    if (quick || !outcome::is_right(screened.verdict)) continue;
    fmt::print("{}\n", outcome::to_json(judge->confirm(source, files[i], screened.tunables)));
    lap("final " + files[i]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 2 ? argv[1] : "";
  if (first == "worker") return std::string_view(argv[2]) == "compile" ? compile::worker_main() : judge::worker_main();
  if (argc < 3) return fmt::print(stderr, "figure_kernelbench DEVICE TASK.py ANSWER…\n"), 2;
  try {
    return run(argc, argv);
  } catch (const base::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
