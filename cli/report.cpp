// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "base/file.hpp"
#include "report/report.hpp"
#include "store/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cli {

namespace {

struct ReportOptions {
  std::string run, format = "terminal", output;
  bool as_json = false;
};

ExitCode run_report(const ReportOptions& options, const Console& console) {
  const auto run = store::load(options.run);
  const bool to_file = !options.output.empty() && options.output != "-";
  const auto text = report::render(run, options.as_json ? "json" : options.format,
                                   {!to_file && console.colour(stdout), console.width(stdout)});
  if (to_file) base::write_file(options.output, text);
  else if (options.format == "terminal" && !options.as_json) console.print(text);
  else console.result(text);
  return ExitCode::success;
}

}  // namespace

void add_report(CommandLine& line) {
  auto options = std::make_shared<ReportOptions>();
  Arguments app = line.add("report", "Print the report of a run again, in any format", main_group,
                           [options, &line] { return run_report(*options, line.console); });
  app.add_option("RUN", options->run, "A run's folder; see `cudal1 runs`")->required();
  app.add_option("--format", options->format, "How it is written")
      ->option_text(fmt::format("{}", fmt::join(report::formats(), "|")));
  app.add_flag("--json", options->as_json, "The same as --format json");
  app.add_option("-o,--output", options->output, "Write to this file instead of standard output")->option_text("FILE");
}

}  // namespace cudal1::cli
