// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "mcp_server.hpp"
#include "mcp_tools.hpp"

namespace cudal1::cli {

void add_mcp(CommandLine& line) {
  line.add("mcp", "Serve coding agents: a Model Context Protocol server on standard input and output", surroundings_group, [] {
    serve_mcp(mcp_tools(), stdin, stdout);
    return ExitCode::success;
  });
}

}  // namespace cudal1::cli
