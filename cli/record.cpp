// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "device_options.hpp"
#include "recorded_program.hpp"
#include "recorded_task.hpp"
#include "remote_device.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct RecordOptions {
  RecordedProgram program;
  RecordedTaskOptions task;
  DeviceOptions device;
  std::string launch;
  std::vector<std::string> arguments;      // what stands after -- where sources stand before it
};

// "7" or "7-9".
void read_launches(const std::string& text, record::Choice& choice) {
  if (text.empty()) return;
  const auto number = [&](std::string_view part) {
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || stop != part.data() + part.size() || value == 0)
      throw base::Error(base::Fault::usage, fmt::format("--launch {}: write a launch's number, or a first and a last one such as 7-9", text));
    return value;
  };
  const std::size_t dash = text.find('-');
  choice.first = number(std::string_view(text).substr(0, dash));
  choice.last = dash == std::string::npos ? choice.first : number(std::string_view(text).substr(dash + 1));
  if (choice.last < choice.first) throw base::Error(base::Fault::usage, fmt::format("--launch {}: the last launch comes before the first", text));
}

ExitCode run_record(RecordOptions options, const Console& console) {
  read_launches(options.launch, options.program.choice);
  auto& words = options.program.words;
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  const DeviceChoice choice = choose_device(options.device);
  require_here(choice);
  return record_and_write(options.program, options.task, choice, console);
}

}  // namespace

void add_record(CommandLine& line) {
  auto options = std::make_shared<RecordOptions>();
  Arguments app = line.add("record", "Make a task from a running program", main_group, [options, &line] { return run_record(*options, line.console); });
  app.add_option("PROGRAM", options->program.words, "After --, a program and its arguments; or CUDA sources with a main")->required();
  app.add_option("ARGUMENTS", options->arguments, "Arguments of the program that the sources make");
  app.add_option("-o,--output", options->task.output, "Write the task here; without --kernel or --launch it is of the kernel with the most time")->option_text("FILE");
  app.add_option("--kernel", options->program.choice.kernels, "Make a task of this kernel's first launch; with several kernels, of all launches from their first to their last")
      ->option_text("NAME,…")
      ->delimiter(',')
      ->one_value();
  app.add_option("--launch", options->launch, "Make a task of this launch, or of these launches, by number from 1")->option_text("N[-M]");
  app.add_option("--source", options->task.sources, "Files that define the kernels; default: the sources given")->option_text("FILE,…")->delimiter(',')->one_value();
  app.add_option("--include", options->task.include_folders, "A folder with headers of the sources")->option_text("FOLDER")->one_value();
  app.add_option("--define", options->task.definitions, "A macro of the sources")->option_text("NAME[=VALUE]")->one_value();
  app.add_option("--nvcc-option", options->program.nvcc_options, "A further argument for nvcc when it builds the sources")->option_text("WORD")->one_value();
  app.add_flag("--stop", options->program.choice.stop, "End the program when the chosen launches are recorded");
  app.add_flag("--overwrite", options->task.overwrite, "Replace the task if it exists");
  add_device_options(app, options->device);
  add_compile_options(app, options->task.workbench);
}

}  // namespace cudal1::cli
