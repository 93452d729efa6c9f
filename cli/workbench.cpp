// SPDX-License-Identifier: Apache-2.0
#include "workbench.hpp"

#include "remote_device.hpp"
#include "worker.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

// A kernel file asks for float32, which convolutions of PyTorch's are by its default flags not computed in.
void time_beside(OpenTask& open, const DeviceChoice& choice, const WorkbenchOptions& options, judge::Options& result) {
  if (options.baselines.empty()) result.baselines = {"eager", "compile"};
  if (options.baselines.empty() && open.task.file.torch->first.find("conv") != std::string::npos) result.baselines.emplace_back("eager/fp32");
  result.beside = [&open, device = choice.device](const std::stop_token& stop) -> pytorch::Host& {
    if (!open.pytorch) open.pytorch = std::make_unique<pytorch::Host>(pytorch::Options{open.python, device, 0, stop});
    return *open.pytorch;
  };
  if (!options.baselines.empty()) result.beside({});   // what was asked for is not left out in silence
}

}  // namespace

judge::Options judge_options(OpenTask& open, const DeviceChoice& choice, const WorkbenchOptions& options) {
  judge::Options result;
  result.pytorch = open.pytorch.get();
  for (const auto& defect : open.defects) result.findings.push_back(defect.finding);
  result.device = choice.device;
  require_known_torch_line(options, open.task);
  result.gpu = choice.gpu;
  result.own_gpu = choice.own_gpu;
  require_portable(open.task, choice);
  result.worker = choice.host.empty() ? worker_program("device") : relay_program(choice.host);
  result.remote = !choice.host.empty();
  // On the simulator equal seeds give equal runs. On a GPU inputs that nobody could have known are worth more.
  if (choice.device == "sim") result.seed = options.seed;
  result.run_limit = base::Seconds(options.run_limit);
  result.gpu_budget_ms = options.gpu_budget;
  result.sanitizer = !options.no_sanitizer;
  result.counters = !options.no_counters;
  if (!options.against.empty()) {
    result.against = base::read_file(options.against);
    result.against_name = options.against;
  }
  result.precision = precision_of(options, open.task);
  result.baselines = baselines(options, open.task);
  result.trials = options.trials;
  result.shares_memory = choice.shared();
  result.final_pairs = options.final_pairs;
  result.look_for_tenants = options.look_for_tenants;
  if (options.final_verdicts && !options.no_pytorch && choice.device != "sim" && choice.host.empty() && !task::is_module(open.task) && open.task.file.torch) time_beside(open, choice, options, result);
  result.accept_degenerate = options.accept_degenerate;
  using Oracle = judge::Options::Oracle;
  result.least_oracle = options.require_oracle == "torch" ? Oracle::torch : options.require_oracle == "shadow" ? Oracle::shadow : Oracle::none;
  // How long the simulator takes depends on what else the machine does, so there a run remembers for itself alone.
  result.hangs = choice.device == "sim" ? options.hangs : base::cache_folder() / "hung";
  result.printed = options.printed;
  return result;
}

void say_device(const DeviceChoice& choice, const WorkbenchOptions& options, const Console& console) {
  console.note(choice.statement);
  if (!choice.host.empty() && choice.device != "sim" && !options.baselines.empty()) console.note("--baseline is left out: PyTorch is not timed over ssh");
  if (choice.device == "sim" && !options.baselines.empty()) console.note("--baseline is left out: PyTorch is timed on a GPU only");
}

namespace {

constexpr std::string_view ways[] = {"eager", "cudnn.benchmark", "compile", "max-autotune", "reduce-overhead", "graph"};

// A way to run PyTorch by its name, or a function of the user's own, whose file is named in whole: PyTorch runs in another folder.
std::string known_baseline(const std::string& name) {
  constexpr std::string_view own = "python:";
  if (name == "best") return name;
  if (name.starts_with(own)) {
    const auto colon = name.rfind(':');
    const std::string file = colon > own.size() ? name.substr(own.size(), colon - own.size()) : "";
    if (file.empty() || colon + 1 == name.size()) throw base::Error(base::Fault::usage, fmt::format("--baseline {}: expected python:FILE:FUNCTION", name));
    if (!std::filesystem::is_regular_file(file)) throw base::Error(base::Fault::missing, fmt::format("--baseline {}: there is no file {}", name, file));
    return fmt::format("{}{}{}", own, std::filesystem::absolute(file).string(), name.substr(colon));
  }
  const std::string_view way = std::string_view(name).substr(0, name.find('/'));
  const bool known = std::find(std::begin(ways), std::end(ways), way) != std::end(ways);
  const std::string_view flags = std::string_view(name).substr(way.size());
  if (known && (flags.empty() || flags == "/fp32" || flags == "/tf32")) return name;
  const auto near = base::nearest(std::string(way), {std::begin(ways), std::end(ways)});
  throw base::Error(base::Fault::usage, fmt::format("--baseline {}: expected best, one of {}, alone or with /fp32 or /tf32, or python:FILE:FUNCTION{}", name, fmt::join(ways, ", "),
                                                    near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
}

}  // namespace

std::vector<std::string> baselines(const WorkbenchOptions& options, const task::Task& task) {
  // By every way at the flags of the run's precision; beside it once at PyTorch's own.
  std::vector<std::string> usual{"eager", "compile", "reduce-overhead", "graph"};
  if (const outcome::Precision precision = precision_of(options, task); precision != outcome::Precision::reference && task::is_module(task)) {
    for (std::string& name : usual) name += precision == outcome::Precision::fp32 ? "/fp32" : "/tf32";
    usual.emplace_back("eager");
  }
  std::vector<std::string> result = options.baselines.empty() ? usual : options.baselines;
  for (std::string& name : result) name = known_baseline(name);
  if (result == std::vector<std::string>{"best"}) result.insert(result.end(), usual.begin(), usual.end());
  return result;
}

void add_compile_options(Arguments app, WorkbenchOptions& options) {
  app.add_option("--compile-limit", options.compile_limit, "The most seconds for one compilation")
      ->option_text("SECONDS")
      ->check(Check::positive())
      ->group("Judging");
  app.add_flag("--no-sandbox", options.no_sandbox, "Compile without a sandbox where the system offers none")->group("Judging");
}

void add_judge_options(Arguments app, WorkbenchOptions& options) {
  app.add_option("--seed", options.seed, "Seed of the search and, on the simulator, of the inputs")
      ->option_text("N")
      ->group("Judging");
  app.add_option("--run-limit", options.run_limit, "The most seconds for one execution of a variant")
      ->option_text("SECONDS")
      ->check(Check::positive())
      ->group("Judging");
  app.add_option("--gpu-budget", options.gpu_budget, "Device time for the first measurement of a variant")
      ->option_text("MILLISECONDS")
      ->check(Check::positive())
      ->group("Judging");
  app.add_flag("--no-sanitizer", options.no_sanitizer, "Leave out compute-sanitizer before a final verdict on a GPU")
      ->group("Judging");
  app.add_flag("--no-counters", options.no_counters, "Do not read the GPU's counters, which takes a tenth of a second for each variant")->group("Judging");
  app.add_option("--precision", options.precision, "How exact products of float32 operands must be [default: reference for a module, else fp32]")
      ->option_text("reference|fp32|tf32|half")
      ->check(Check::one_of({"reference", "fp32", "tf32", "half"}))
      ->group("Judging");
  app.add_option("--trials", options.trials, "The number of seeds with which the declared inputs are drawn to verify a variant")
      ->option_text("N")
      ->check(Check::between(1, 1000))
      ->group("Judging");
  app.add_option("--final-pairs", options.final_pairs, "On a GPU, the pairs of measurements that a final verdict takes in each of its processes")
      ->option_text("N")
      ->check(Check::between(12, 10000))
      ->group("Judging");
  app.add_flag("--no-pytorch", options.no_pytorch, "On a GPU, do not time a kernel file's torch line in PyTorch for a final verdict")
      ->group("Judging");
  app.add_option("--baseline", options.baselines, "On a GPU, the ways to run PyTorch that variants are timed against; a module's score is against the first")
      ->option_text("NAME,…")
      ->delimiter(',')
      ->one_value()
      ->group("Judging");
  app.add_flag("--no-oracle", options.no_oracle, "If the torch line cannot be evaluated, judge the task as if it had none")->group("Judging");
  app.add_option("--require-oracle", options.require_oracle, "Refuse a task whose right result comes only from its own kernel: torch requires a torch line, shadow also accepts the kernel in double precision")
      ->option_text("torch|shadow")
      ->check(Check::one_of({"torch", "shadow"}))
      ->group("Judging");
  add_compile_options(app, options);
}

void add_accept_degenerate(Arguments app, WorkbenchOptions& options) {
  app.add_flag("--accept-degenerate", options.accept_degenerate,
               "Judge a task whose answer needs no work; no variant of it is called FASTER")
      ->group("Judging");
}

void require_known_torch_line(const WorkbenchOptions& options, const task::Task& task) {
  if (!task.file.torch || task.torch || task::is_module(task) || options.no_oracle) return;
  const auto& place = task.file.torch->second;
  throw base::Error(base::Fault::bad_task,
                    fmt::format("{}:{}: the torch line cannot be evaluated: {}\nMend it, or judge without it with --no-oracle.", task.file.name, place.line, task.no_oracle_reason));
}

outcome::Precision precision_of(const WorkbenchOptions& options, const task::Task& task) {
  const bool module = task::is_module(task);
  if (options.precision.empty()) return module ? outcome::Precision::reference : outcome::Precision::fp32;
  const outcome::Precision precision = outcome::parse_precision(options.precision).value();
  if (precision == outcome::Precision::reference && !module)
    throw base::Error(base::Fault::usage, "--precision reference is that of a PyTorch module; a kernel file takes fp32, tf32 or half");
  return precision;
}

compile::CompilerOptions compiler_options(const WorkbenchOptions& options) {
  compile::CompilerOptions result;
  result.worker = worker_program("compile");
  result.limits.time = base::Seconds(options.compile_limit);
  result.cache_folder = base::cache_folder() / "compiled";
  result.sandbox = !options.no_sandbox;
  return result;
}

Workbench::Workbench(OpenTask& open, const DeviceChoice& choice, const WorkbenchOptions& options)
    : compiler(compiler_options(options)), judge(open.task, compiler, judge_options(open, choice, options)) {
  for (const auto& device : choice.others) {
    auto settings = judge_options(open, choice, options);
    settings.device = device;
    settings.beside = nullptr;   // final verdicts are the first one's
    others.push_back(std::make_unique<judge::Judge>(open.task, compiler, std::move(settings)));
  }
}

std::vector<judge::Judge*> Workbench::judges() {
  std::vector<judge::Judge*> all = {&judge};
  for (const auto& other : others) all.push_back(other.get());
  return all;
}

}  // namespace cudal1::cli
