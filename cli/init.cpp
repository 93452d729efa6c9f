// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
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
};

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
  const auto draft = pytorch::is_module(options.file) ? module_draft(options)
                                                      : kernel::draft(base::read_file(options.file), options.file);
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
  Arguments app = line.add("init", "Draft a kernel file from an ordinary .cu or a PyTorch module", main_group,
                           [options, &line] { return run(*options, line.console); });
  app.add_option("FILE", options->file, "CUDA source, or a PyTorch module in KernelBench's form")->required();
  app.add_option("-o,--output", options->output, "A file instead of standard output")->option_text("FILE");
  add_task_settings(app, options->settings);
  app.add_flag("--overwrite", options->overwrite, "Replace that file if it exists");
}

}  // namespace cudal1::cli
