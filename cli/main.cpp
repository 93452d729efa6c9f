// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "commands.hpp"
#include "worker.hpp"

#include "base/error.hpp"

#include <exception>

#include <fmt/format.h>

namespace {

using namespace cudal1;

int report_error(std::string_view message, cli::ExitCode code) {
  fmt::print(stderr, "cudal1: {}{}", message, message.ends_with('\n') ? "" : "\n");
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto worker = cli::worker_main(argc, argv)) return *worker;
    cli::CommandLine line;
    cli::add_commands(line);
    return static_cast<int>(line.run(argc, argv));
  } catch (const base::Error& error) {
    return report_error(error.what(), cli::exit_code(error.fault()));
  } catch (const std::exception& error) {
    return report_error(fmt::format("internal error: {}", error.what()), cli::ExitCode::internal);
  }
}
