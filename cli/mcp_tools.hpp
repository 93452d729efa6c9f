// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mcp_server.hpp"

namespace cudal1::cli {

// What an agent can ask for. Each call runs this program's own command with --json, so that an agent sees what a terminal
// sees; the runs are those of `optimize` with `exchange:` as the model.
std::vector<Tool> mcp_tools();

}  // namespace cudal1::cli
