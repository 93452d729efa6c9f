// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "device_options.hpp"
#include "recorded_program.hpp"
#include "recorded_task.hpp"
#include "task_options.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "kernel/output.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct Options {
  std::string file, output;
  TaskOptions settings;
  bool overwrite = false;
  bool run = false;
  std::vector<std::string> arguments;                  // of the program
  std::string kernel;
  DeviceOptions device;
};

// A file that has a `main` says by running what cannot be read in it.
ExitCode record(const Options& options, const Console& console) {
  RecordedProgram program;
  program.words = {options.file};
  program.words.insert(program.words.end(), options.arguments.begin(), options.arguments.end());
  if (!options.kernel.empty()) program.choice.kernels = {options.kernel};
  RecordedTaskOptions task;
  task.output = options.output;
  task.overwrite = options.overwrite;
  return record_and_write(program, task, choose_device(options.device), console);
}

// The interface that a variant of the module has; its kernels are the user's to write.
kernel::Draft module_draft(const Options& options) {
  pytorch::Host host({options.settings.python, "cpu", 0});
  const auto task = host.open(options.file, overrides(options.settings.set), host_memory_bytes());
  kernel::Draft draft;
  draft.text = task.file.source;
  draft.set_aside = host.notes();
  draft.to_complete.push_back("a kernel and a line such as //@ launch kernel<<<ceil_div(N, 256), 256>>>(x, output, N)");
  return draft;
}

ExitCode run(const Options& options, const Console& console) {
  if (options.run) return record(options, console);
  if (!options.arguments.empty() || !options.kernel.empty())
    throw base::Error(base::Fault::usage, options.kernel.empty() ? "init drafts one file; arguments are for a program that --run runs" : "--kernel chooses among what --run has seen launched");
  const auto draft = pytorch::is_module(options.file) ? module_draft(options)
                                                      : kernel::draft(base::read_file(options.file), options.file);
  const bool to_file = !options.output.empty() && options.output != "-";
  if (to_file) {
    if (std::filesystem::exists(options.output) && std::filesystem::equivalent(options.file, options.output))
      throw base::Error(base::Fault::usage, fmt::format("{} is the source itself: name another file with -o", options.output));
    if (!options.overwrite && std::filesystem::exists(options.output))
      throw base::Error(base::Fault::usage, fmt::format("{} exists; replace it with --overwrite", options.output));
    base::write_file(options.output, draft.text);
  } else {
    console.result(draft.text);
  }
  for (const auto& what : draft.set_aside) console.note("set aside: " + what);
  for (const auto& what : draft.to_complete) console.note("to complete: " + what);
  if (to_file)
    console.note(fmt::format("next: {}cudal1 optimize {}", draft.to_complete.empty() ? "" : "complete what is marked, then ",
                             options.output));
  return ExitCode::success;
}

}  // namespace

void add_init(CommandLine& line) {
  auto options = std::make_shared<Options>();
  Arguments app = line.add("init", "Draft a kernel file from an ordinary .cu or a PyTorch module", main_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_option("FILE", options->file, "CUDA source, or a PyTorch module in KernelBench's form")->required();
  app.add_option("ARGUMENTS", options->arguments, "Of the program that --run runs; those with a dash stand after --");
  app.add_option("-o,--output", options->output, "A file instead of standard output")->option_text("FILE");
  app.add_flag("--run", options->run, "Build the file, which has a main, run it, and take the task from what it launches");
  app.add_option("--kernel", options->kernel, "With --run: the kernel; default: the one with most time")->option_text("NAME");
  add_device_options(app, options->device);
  add_task_settings(app, options->settings);
  app.add_flag("--overwrite", options->overwrite, "Replace that file if it exists");
}

}  // namespace cudal1::cli
