// SPDX-License-Identifier: Apache-2.0
#include "task_options.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "flashinfer/kernel_task.hpp"
#include "kernel/output.hpp"
#include "playbook/playbook.hpp"
#include "store/command.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>

#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

constexpr std::string_view plan_words[] = {"launch", "memset", "copy ", "for ", "when ", "}", "tune", "scratch"};
constexpr std::size_t simulated_bytes = std::size_t{64} << 20;  // of a module's inputs and weights: seconds per variant

}  // namespace

std::map<std::string, std::int64_t> overrides(const std::vector<std::string>& set) {
  std::map<std::string, std::int64_t> values;
  for (const auto& text : set) {
    const auto equals = text.find('=');
    const char* end = text.data() + text.size();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + std::min(equals, text.size() - 1) + 1, end, value);
    if (equals == 0 || equals == std::string::npos || error != std::errc() || stop != end)
      throw base::Error(base::Fault::usage,
                        fmt::format("--set {}: expected NAME=VALUE with a whole number, such as N=64", text));
    values[text.substr(0, equals)] = value;
  }
  return values;
}

void add_task_settings(Arguments app, TaskOptions& options) {
  app.add_option("--set", options.set, "Another value for one of the task's sizes or constants; may be given several times")
      ->option_text("NAME=VALUE")
      ->one_value()
      ->delimiter(',');
  app.add_option("--python", options.python, "The interpreter with PyTorch, for .py tasks and, on a GPU, beside kernel files [default: python3]")
      ->option_text("PROGRAM");
}

void add_task_options(Arguments app, TaskOptions& options) {
  app.add_option("TASK", options.task, "A kernel file, cudal1-kernel(5), a PyTorch module, cudal1-kernelbench(7), or a definition.json, cudal1-flashinfer(7)")->required();
  add_task_settings(app, options);
}

namespace {

// A definition of FlashInfer Trace as a kernel file, and what to say of it. Empty for any other task.
std::optional<DraftedSource> defined_task(const TaskOptions& options) {
  constexpr std::size_t most_workloads = 8;
  if (!flashinfer::is_definition(options.task)) return std::nullopt;
  const std::filesystem::path path = options.task;
  const auto definition = flashinfer::read_definition(base::read_file(path, std::size_t{16} << 20), path.string());
  const std::filesystem::path file = flashinfer::workloads_of(definition, path);
  if (file.empty())
    throw base::Error(base::Fault::missing, fmt::format("{}: there are no workloads: neither workloads.jsonl beside it nor {}.jsonl in a folder workloads/ of its data set", path.string(), definition.name));
  auto all = flashinfer::read_workloads(definition, base::read_file(file, std::size_t{256} << 20), file.string());
  for (auto& workload : all)
    for (const auto& [axis, value] : overrides(options.set))
      if (workload.axes.contains(axis)) workload.axes[axis] = value;
  const auto chosen = flashinfer::spread(definition, all, most_workloads);
  return DraftedSource{flashinfer::kernel_task(definition, chosen, path),
                       fmt::format("{} is taken as a kernel file, at {} of the {} workloads in {}, with a plain kernel for each operation of its reference", path.string(), chosen.size(), all.size(), file.string())};
}

std::unique_ptr<pytorch::Host> start_host(const TaskOptions& options, const DeviceChoice& choice) {
  const bool simulated = choice.device == "sim";
  pytorch::Options host{options.python, simulated ? "cpu" : choice.device, simulated && !options.unlimited ? simulated_bytes : 0};
  host.stop = options.stop;
  host.sharers = choice.alone ? 1 : choice.sharers;
  if (options.time_limit > 0) host.limit = base::Seconds(options.time_limit);
  return std::make_unique<pytorch::Host>(std::move(host));
}

}  // namespace

SharedTask open_shared(const TaskOptions& options, const DeviceChoice& choice, GpuShares& shares, std::unique_ptr<pytorch::Host>&& warm) {
  SharedTask result;
  const bool module = pytorch::is_module(options.task), shared = choice.sharers > 1 && !choice.facts.simulated;
  double start_seconds = 0;
  if (module && shared) {
    const base::Seconds began = base::now();
    if (!warm) warm = start_host(options, choice);
    start_seconds = (base::now() - began).count();
    const auto weight = shares.scales.weigh(warm->python(), options.task, overrides(options.set), options.stop);
    result.place = shares.enter(choice, weight ? weight->set + weight->beside : 0, options.stop);
    warm->limit_to(result.place.pytorch_bytes, weight);
  }
  {
    const auto turn = module ? GpuShares::turn(choice) : nullptr;
    result.open = open_task(options, choice, std::move(warm));
    result.open.start_seconds += start_seconds;
    const base::Seconds opened = base::now();
    Console quiet;
    quiet.options.quiet = true;
    result.refusal = examine(result.open, quiet);
    result.gate_seconds = (base::now() - opened).count();
  }
  if (!module && shared) {
    double most = 0;
    for (std::size_t i = 0; i < result.open.task.workloads.size(); ++i) most = std::max(most, result.open.task.necessary_bytes(i));
    result.place = shares.enter(choice, static_cast<std::size_t>(most), options.stop);
  }
  return result;
}

void give_back(SharedTask& shared, const DeviceChoice& choice, std::unique_ptr<pytorch::Host>& host) {
  if (shared.open.pytorch && choice.sharers > 1 && !choice.facts.simulated) {
    const auto turn = GpuShares::turn(choice);
    shared.open.pytorch->close();
  }
  host = std::move(shared.open.pytorch);
}

OpenTask open_task(const TaskOptions& options, const DeviceChoice& choice, std::unique_ptr<pytorch::Host>&& warm) {
  if (!choice.host.empty() && pytorch::is_module(options.task))
    throw base::Error(base::Fault::bad_task, fmt::format("{}: a PyTorch module needs PyTorch beside its device; run cudal1 on {} itself", options.task, choice.host));
  const bool simulated = choice.device == "sim";
  // On the simulator what is right, in double precision, lies beside the buffers.
  const std::size_t memory_bytes = simulated ? host_memory_bytes() / (pytorch::is_module(options.task) ? 1 : 2) : choice.facts.memory_bytes;
  const auto set = overrides(options.set);
  OpenTask open;
  open.python = options.python;
  if (!pytorch::is_module(options.task)) {
    const auto defined = defined_task(options);
    std::string source = defined ? defined->source : base::read_file(options.task, std::size_t{16} << 20);
    if (defined) open.drafted = defined->note;
    else if (const auto drafted = drafted_task(source, options.task)) {
      open.drafted = drafted->note;
      source = drafted->source;
    }
    open.task = task::from_source(std::move(source), options.task, set, memory_bytes);
    open.pytorch = std::move(warm);
    return open;
  }
  if (!choice.others.empty())
    throw base::Error(base::Fault::usage, fmt::format("{}: a PyTorch module is judged on one device; give --device {}, or in a sweep --jobs {}", options.task, choice.device, choice.others.size() + 1));
  const base::Seconds began = base::now();
  if (!warm) warm = start_host(options, choice);
  open.start_seconds = (base::now() - began).count();
  open.task = warm->open(options.task, set, memory_bytes);
  open.pytorch = std::move(warm);
  return open;
}

std::optional<DraftedSource> drafted_task(const std::string& source, const std::string& name) {
  if (source.find('\0') != std::string::npos || kernel::valid_host_text(source, name)) return std::nullopt;
  const kernel::Draft draft = kernel::draft(source, name);
  if (!draft.complete()) {
    const std::string missing = draft.to_complete.empty() ? "" : fmt::format("; to complete: {}", draft.to_complete.front());
    throw base::Error(base::Fault::bad_task,
                      fmt::format("{}: no `//@` directive: this is not a kernel file yet{}\nrun `cudal1 init {} -o {}` to draft the directives", name, missing,
                                  store::shell_quoted(name), store::shell_quoted(std::filesystem::path(name).stem().string() + ".task.cu")));
  }
  std::string note = fmt::format("{} is no kernel file: it is taken as `cudal1 init` drafts it, with the kernel {}", name, draft.kernel);
  for (const std::string& guess : draft.guessed) note += fmt::format("\n  guessed: {}", guess);
  return DraftedSource{draft.text, note};
}

std::optional<DraftedSource> drafted_variant(const std::string& source, const std::string& name) {
  if (source.find('\0') != std::string::npos || source.find("__global__") == std::string::npos || kernel::valid_host_text(source, name)) return std::nullopt;
  const kernel::Draft draft = kernel::draft(source, name);
  if (!draft.complete()) return std::nullopt;
  std::string text;
  for (const std::string& line : base::split_lines(draft.text)) {
    const std::string_view trimmed = base::trim(line);
    const std::string_view word = trimmed.starts_with("//@") ? base::trim(trimmed.substr(3)) : "";
    const bool plan = word.empty() || std::any_of(std::begin(plan_words), std::end(plan_words), [&](std::string_view one) { return word.starts_with(one); });
    text += (plan ? line : "") + "\n";   // lines keep their numbers
  }
  return DraftedSource{text, fmt::format("{} is no kernel file: its launches are taken as `cudal1 init` drafts them, with the kernel {}", name, draft.kernel)};
}

std::optional<std::string> examine(OpenTask& open, const Console& console) {
  constexpr double tolerance = 1e-4;  // KernelBench's own for float32
  if (!task::is_module(open.task)) return std::nullopt;
  for (const auto& note : open.pytorch->notes()) console.note(note);
  open.defects = open.pytorch->examine(tolerance);
  if (auto collapse = playbook::collapse(open.task); !collapse.empty())
    open.defects.push_back({"collapsible", {outcome::TaskVerdict::collapsible, std::move(collapse)}});
  for (const auto& [kind, finding] : open.defects)
    if (finding.verdict == outcome::TaskVerdict::unstable || finding.verdict == outcome::TaskVerdict::broken)
      return fmt::format("{}: {}: {}", open.task.path.string(), outcome::name(finding.verdict), finding.reason);
  return std::nullopt;
}

void require_fit(OpenTask& open, const Console& console) {
  if (!open.drafted.empty()) console.note(open.drafted);
  if (const auto reason = examine(open, console)) throw base::Error(base::Fault::bad_task, *reason);
}

std::size_t host_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::size_t{1} << 40;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes);
}

}  // namespace cudal1::cli
