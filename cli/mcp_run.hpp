// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mcp_server.hpp"

namespace cudal1::cli {

// An agent's run is a run of `optimize` whose model is a folder of prompts and replies in the run's own folder: each call
// lays the reply there and lets the same command go on until it waits for the next. So the server holds nothing: who was
// killed begins again with the run's folder.

ToolResult start_run(const ToolCall& call);
ToolResult submit_variant(const ToolCall& call);
ToolResult finish_run(const ToolCall& call);
ToolResult best_so_far(const ToolCall& call);
ToolResult run_report(const ToolCall& call);

}  // namespace cudal1::cli
