// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "commands.hpp"
#include "error_message.hpp"
#include "worker.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <exception>
#include <string_view>
#include <vector>

#include <fcntl.h>

#include <fmt/format.h>

namespace {

using namespace cudal1;

int report_error(const std::vector<std::string_view>& words, std::string_view message, cli::ExitCode code) {
  cli::print_error(words, message, code);
  return static_cast<int>(code);
}

// 0, 1 and 2 always lead somewhere: a file that is opened later must not become the place where messages go.
void open_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) open("/dev/null", stream == 0 ? O_RDONLY : O_WRONLY);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  const std::vector<std::string_view> words(argv, argv + argc);
  try {
    if (const auto worker = cli::worker_main(argc, argv)) return *worker;
    cli::CommandLine line;
    cli::add_commands(line);
    return static_cast<int>(line.run(argc, argv));
  } catch (const base::Error& error) {
    return report_error(words, error.what(), cli::exit_code(error.fault()));
  } catch (const std::exception& error) {
    return report_error(words, fmt::format("internal error: {}", error.what()), cli::ExitCode::internal);
  }
}
