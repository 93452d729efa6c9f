// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "device_options.hpp"
#include "output_file.hpp"
#include "recorded_program.hpp"
#include "recorded_task.hpp"
#include "remote_device.hpp"
#include "task_options.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "kernel/output.hpp"
#include "kernel/size_values.hpp"
#include "store/command.hpp"

#include <charconv>
#include <filesystem>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct InitOptions {
  std::string file, output, kernel;
  TaskOptions settings;
  bool overwrite = false;
  bool run = false;
  std::vector<std::string> arguments;                  // of the program
  DeviceOptions device;
};

// A file that has a `main` says by running what cannot be read in it.
ExitCode record(const InitOptions& options, const Console& console) {
  RecordedProgram program;
  program.words = {options.file};
  program.words.insert(program.words.end(), options.arguments.begin(), options.arguments.end());
  if (!options.kernel.empty()) program.choice.kernels = {options.kernel};
  RecordedTaskOptions task;
  task.output = options.output;
  task.overwrite = options.overwrite;
  const DeviceChoice choice = choose_device(options.device);
  require_here(choice);
  return record_and_write(program, task, choice, console);
}

// The interface that a variant of the module has; its kernels are the user's to write.
kernel::Draft module_draft(const InitOptions& options) {
  pytorch::Host host({options.settings.python, "cpu", 0});
  const auto task = host.open(options.file, overrides(options.settings.set), host_memory_bytes());
  kernel::Draft draft;
  draft.text = task.file.source;
  draft.set_aside = host.notes();
  draft.to_complete.push_back("a kernel and a line such as //@ launch kernel<<<ceil_div(N, 256), 256>>>(x, output, N)");
  return draft;
}

std::string read_source(const std::string& file) {
  if (file != "-") return base::read_file(file, std::size_t{16} << 20);
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// With several kernels, the person at the terminal says which; the one that is drafted otherwise is 1.
std::string chosen_kernel(const kernel::Draft& draft, const Console& console) {
  if (draft.kernels.size() < 2) return "";
  std::string question = "Which kernel?\n";
  for (std::size_t i = 0; i < draft.kernels.size(); ++i) question += fmt::format("{:3}  {}\n", i + 1, draft.kernels[i]);
  question += fmt::format("Its number [{}]:", draft.kernel);
  const auto answer = console.ask_text(question);
  if (!answer || base::trim(*answer).empty()) return "";
  const std::string word(base::trim(*answer));
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) {
    if (number < 1 || number > draft.kernels.size())
      throw base::Error(base::Fault::usage, fmt::format("there is no kernel {}; numbers go from 1 to {}", number, draft.kernels.size()));
    return draft.kernels[number - 1];
  }
  return word;
}

kernel::Draft source_draft(const InitOptions& options, const Console& console) {
  const std::string source = read_source(options.file), name = options.file == "-" ? "task.cu" : options.file;
  auto draft = kernel::draft(source, name, options.kernel);
  if (options.kernel.empty())
    if (const std::string kernel = chosen_kernel(draft, console); !kernel.empty()) draft = kernel::draft(source, name, kernel);
  draft.text = kernel::with_size_values(draft.text, overrides(options.settings.set));
  return draft;
}

ExitCode run_init(const InitOptions& options, const Console& console) {
  if (options.run) return record(options, console);
  if (!options.arguments.empty()) throw base::Error(base::Fault::usage, "init drafts one file; arguments are for a program that --run runs");
  const bool to_file = !options.output.empty() && options.output != "-";
  if (to_file) require_writable(options.output, {options.file});
  if (to_file && !options.overwrite && std::filesystem::exists(options.output))
    throw base::Error(base::Fault::usage, fmt::format("{} exists; replace it with --overwrite", options.output));
  const auto draft = pytorch::is_module(options.file) ? module_draft(options) : source_draft(options, console);
  if (to_file) base::write_file(options.output, draft.text);
  else console.result(draft.text);
  for (const auto& what : draft.set_aside) console.note("set aside: " + what);
  for (const auto& what : draft.remarks) console.note("remark: " + what);
  for (const auto& what : draft.guessed) console.note("guessed: " + what);
  for (const auto& what : draft.to_complete) console.note("to complete: " + what);
  if (!draft.kernel.empty())
    console.note("say what is right in a line such as //@ torch C = A @ B; without it the kernel itself is the only source of right results");
  if (to_file)
    console.note(fmt::format("next: {}cudal1 optimize {}", draft.to_complete.empty() ? "" : "complete what is marked, then ",
                             store::shell_quoted(options.output)));
  return ExitCode::success;
}

}  // namespace

void add_init(CommandLine& line) {
  auto options = std::make_shared<InitOptions>();
  Arguments app = line.add("init", "Draft a kernel file from an ordinary .cu or a PyTorch module", main_group,
                           [options, &line] { return run_init(*options, line.console); });
  app.add_option("FILE", options->file, "CUDA source, - for standard input, or a PyTorch module in KernelBench's form")->required();
  app.add_option("ARGUMENTS", options->arguments, "Arguments of the program that --run runs; those that begin with a dash stand after --");
  app.add_option("-o,--output", options->output, "Write to this file instead of standard output")->option_text("FILE");
  app.add_flag("--run", options->run, "Build the file, which has a main, run it, and make a task of what it launches");
  app.add_option("--kernel", options->kernel, "The kernel, if the file has several; with --run the default is the one with the most time")->option_text("NAME");
  add_device_options(app, options->device);
  add_task_settings(app, options->settings);
  app.add_flag("--overwrite", options->overwrite, "Replace that file if it exists");
}

}  // namespace cudal1::cli
