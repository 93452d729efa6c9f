// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "interruption.hpp"

#include "report/report.hpp"
#include "serve/page.hpp"
#include "store/run.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct WatchOptions {
  std::string run;
  int port = 8781;
};

// Another text whenever the journal has grown.
std::string version_of(const std::filesystem::path& journal) {
  std::error_code none;
  const auto size = std::filesystem::file_size(journal, none);
  const auto written = std::filesystem::last_write_time(journal, none);
  return fmt::format("{} {}", size, written.time_since_epoch().count());
}

ExitCode run_watch(const WatchOptions& options, const Console& console) {
  store::load(options.run);   // a folder without a run is said at once
  serve::Page page;
  page.port = options.port;
  page.render = [folder = options.run] { return report::render(store::load(folder), "html"); };
  page.version = [journal = std::filesystem::path(options.run) / "journal.jsonl"] { return version_of(journal); };
  serve::PageServer server(std::move(page));
  const Interruption interruption(console, "no longer watching");
  const std::stop_callback stop(interruption.token(), [&server] { server.end(); });
  console.note(fmt::format("watching {}: http://127.0.0.1:{}/ shows its report and follows it; Ctrl-C ends that, not the run", options.run, server.port()));
  server.run();
  return interruption.signal() != 0 ? static_cast<ExitCode>(128 + interruption.signal()) : ExitCode::success;
}

}  // namespace

void add_watch(CommandLine& line) {
  auto options = std::make_shared<WatchOptions>();
  Arguments app = line.add("watch", "Show the report of a run in the browser while the run goes on", main_group, [options, &line] { return run_watch(*options, line.console); });
  app.add_option("RUN", options->run, "A run's folder; see `cudal1 runs`")->required();
  app.add_option("--port", options->port, "The port on the loopback address; 0 takes any free port")->option_text("N")->check(Check::between(0, 65535));
}

}  // namespace cudal1::cli
