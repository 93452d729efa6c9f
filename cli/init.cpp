// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "kernel/output.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct Options {
  std::string file, output;
  bool overwrite = false;
};

ExitCode run(const Options& options, const Console& console) {
  if (options.file.ends_with(".py"))
    throw base::Error(base::Fault::bad_input, fmt::format("{}: init reads CUDA source; Python tasks are not read", options.file));
  const auto draft = kernel::draft(base::read_file(options.file), options.file);
  const bool to_file = !options.output.empty() && options.output != "-";
  if (to_file) {
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
  CLI::App& app = line.add("init", "Draft a kernel file from an ordinary .cu", main_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_option("FILE", options->file, "CUDA source")->required();
  app.add_option("-o,--output", options->output, "A file instead of standard output")->option_text("FILE");
  app.add_flag("--overwrite", options->overwrite, "Replace that file if it exists");
}

}  // namespace cudal1::cli
