// SPDX-License-Identifier: Apache-2.0
#include "recorded_task.hpp"

#include "output_file.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "compile/compiler.hpp"
#include "cuda/cuda.hpp"
#include "kernel/signature.hpp"
#include "record/device_source.hpp"
#include "record/task.hpp"
#include "sim/sim.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

// "cuda:1" → 1.
std::size_t gpu_index(const std::string& device) {
  std::size_t index = 0;
  if (const std::size_t colon = device.find(':'); colon != std::string::npos) std::from_chars(device.data() + colon + 1, device.data() + device.size(), index);
  return index;
}

[[noreturn]] void refuse(const std::string& why) { throw base::Error(base::Fault::bad_input, "no task: " + why); }

// A task's name is an identifier.
std::string task_name(const std::filesystem::path& output) {
  std::string name;
  for (const char c : output.stem().string()) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "task_" + name;
  return name;
}

std::string bare_name(const std::string& kernel) {
  std::string name = kernel::split_kernel_name(kernel).name;
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  return name;
}

// The first of the sources that defines all kernels; what the last one lacks is said otherwise.
record::DeviceSource find_source(const std::vector<std::string>& kernels, const RecordedTaskOptions& options) {
  if (options.sources.empty()) refuse("name the file that defines the kernel with --source");
  record::DeviceSource best;
  std::string problem;
  for (const auto& source : options.sources) {
    if (!std::filesystem::exists(source)) refuse(fmt::format("{}: there is no such file", source));
    const auto text = record::preprocess(source, {options.include_folders, options.definitions});
    if (!text) {
      problem = text.error();
      continue;
    }
    best = record::slice(*text, kernels);
    if (best.missing.empty()) return best;
  }
  if (best.text.empty() && !problem.empty()) refuse(problem);
  return best;
}

struct Loaded {
  kernel::Plan plan;
  std::unique_ptr<device::Module> module;
};

Loaded load(record::RecordedTask& task, const std::filesystem::path& output, compile::Compiler& compiler, device::Device& device) {
  const auto built = [&]() -> tl::expected<compile::Compiled, compile::Rejection> {
    compile::Request request;
    request.source = task.text();
    request.name = output.string();
    request.arch = device.facts().arch();
    request.options = task.options;
    auto parsed = task::from_source(request.source, output);
    const auto plan = kernel::resolve(parsed.file, parsed.workloads.front().environment);
    if (!plan) refuse(base::render(plan.error()));
    request.kernels = plan->kernels();
    return compiler.compile(request);
  };
  auto compiled = built();
  if (!compiled && task.options.empty()) {
    // Functions that nobody marked are the host's for NVRTC.
    task.options.emplace_back("--device-as-default-execution-space");
    if (auto again = built()) compiled = std::move(again);
    else task.options.clear();
  }
  if (!compiled) {
    const auto& rejection = compiled.error();
    const auto first = std::find_if(rejection.diagnostics.begin(), rejection.diagnostics.end(), [](const auto& d) { return d.severity == base::Diagnostic::Severity::error; });
    refuse(fmt::format("its kernel by itself does not compile: {}", first != rejection.diagnostics.end() ? first->message : rejection.message));
  }
  const auto parsed = task::from_source(task.text(), output);
  Loaded loaded{*kernel::resolve(parsed.file, parsed.workloads.front().environment), nullptr};
  auto module = device.load(compiled->binary);
  if (!module) refuse(module.error().message);
  loaded.module = *std::move(module);
  return loaded;
}

std::string bytes_text(double bytes) {
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB"})
    if (bytes >= 1024) bytes /= 1024, unit = next;
  return fmt::format("{:.3g} {}", bytes, unit);
}

}  // namespace

void require_place(const RecordedTaskOptions& options, const std::filesystem::path& output) {
  if (output.empty()) return;
  if (!std::filesystem::exists(output)) return require_writable(output.string(), {});
  for (const auto& source : options.sources)
    if (std::filesystem::exists(source) && std::filesystem::equivalent(source, output))
      throw base::Error(base::Fault::usage, fmt::format("{} is a source of the program: name another file with -o", output.string()));
  if (!options.overwrite) throw base::Error(base::Fault::usage, fmt::format("{} exists; replace it with --overwrite, or name another with -o", output.string()));
}

bool write_recorded_task(const record::Kept& kept, const RecordedTaskOptions& options, const DeviceChoice& choice, const Console& console) {
  if (!kept.why_not.empty()) refuse(kept.why_not);
  if (kept.launches.empty()) refuse("no such launch was seen");
  std::vector<std::string> kernels;
  for (const auto& launch : kept.launches)
    if (std::find(kernels.begin(), kernels.end(), launch.kernel) == kernels.end()) kernels.push_back(launch.kernel);
  const std::filesystem::path output = options.output.empty() ? bare_name(kept.launches.front().kernel) + ".task.cu" : options.output;
  require_place(options, output);

  const record::DeviceSource source = find_source(kernels, options);
  auto task = record::draft_task(kept, source, task_name(output));
  if (!task) refuse(task.error());
  task->origin = options.origin;
  compile::Compiler compiler(compiler_options(options.workbench));
  const bool simulated = choice.device == "sim";
  if (simulated) console.note("running its kernel by itself, which tells what it reads and what it writes");
  auto device = simulated ? sim::open({.gpu = choice.gpu, .own = choice.own_gpu}) : cuda::open(gpu_index(choice.device));
  const auto settle = [&](record::RecordedTask& drafted) {
    Loaded loaded = load(drafted, output, compiler, *device);
    auto settled = record::settle_roles(drafted, *device, *loaded.module, loaded.plan, simulated);
    if (drafted.device_lost) static_cast<void>(loaded.module.release()), static_cast<void>(device.release());  // they would wait for it
    return settled;
  };
  // The program's own compiler may have been told to round faster.
  record::RecordedTask fast = *task;
  fast.options.emplace_back("--use_fast_math");
  auto settled = settle(*task);
  if (!task->device_lost && (!settled || task->replayed != record::RecordedTask::Replayed::same))
    if (auto again = settle(fast); again && fast.replayed == record::RecordedTask::Replayed::same) {
      settled = again;
      *task = std::move(fast);
    }
  if (!settled) refuse(kept.suspicion.empty() ? settled.error() : kept.suspicion);

  for (const auto& [name, content] : task->arrays()) base::write_file(output.parent_path() / name, content);
  base::write_file(output, task->text());
  console.note(fmt::format("{}: {} with {}", output.string(), fmt::join(task->launches, ", "),
                           fmt::format("{} buffer{} of {}", task->buffers.size(), task->buffers.size() == 1 ? "" : "s",
                                       bytes_text(static_cast<double>(kept.launches.front().buffer_bytes)))));
  using Replayed = record::RecordedTask::Replayed;
  console.note(task->replayed == Replayed::same      ? "replayed: its kernel gives the recorded bytes"
               : task->replayed == Replayed::rounded ? "replayed: its kernel gives what was recorded, up to rounding"
                                                     : "replayed: its kernel gives what was recorded, up to rounding that differs from run to run");
  console.note(fmt::format("next: cudal1 optimize {}", output.string()));
  return !task->device_lost && !fast.device_lost;
}

std::string launch_table(const record::Recording& recording) {
  std::vector<record::KernelTotal> rows = recording.kernels;
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return recording.ms(a) > recording.ms(b); });
  double all = 0;
  std::size_t width = 6;
  for (const auto& row : rows) all += recording.ms(row), width = std::max(width, std::min<std::size_t>(row.kernel.size(), 40));
  std::string text = fmt::format("{:<{}}  {:>8}  {:>5}  {:>12}  {:>5}  {:>9}\n", "kernel", width, "launches", "first", recording.predicted ? "predicted" : "time", "share", "buffers");
  for (const auto& row : rows) {
    const double ms = recording.ms(row);
    const std::string name = row.kernel.size() > width ? row.kernel.substr(0, width - 3) + "..." : row.kernel;
    text += fmt::format("{:<{}}  {:>8}  {:>5}  {:>9.4g} ms  {:>3.0f} %  {:>9}\n", name, width, row.launches, row.first, ms, all > 0 ? 100 * ms / all : 0.0,
                        bytes_text(static_cast<double>(row.buffer_bytes)));
  }
  return text;
}

}  // namespace cudal1::cli
