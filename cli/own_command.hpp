// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mcp_server.hpp"

#include <string>
#include <vector>

namespace cudal1::cli {

// Runs a command of this program as a tool call: with --json, its progress told on, stopped with the call. A result is
// what it prints, whatever its exit code; without one its last words say why.
ToolResult own_command(const ToolCall& call, std::vector<std::string> arguments);

// device, gpu, sizes and options of a call as options of the command line.
void add_options(std::vector<std::string>& command, const nlohmann::ordered_json& arguments);

}  // namespace cudal1::cli
