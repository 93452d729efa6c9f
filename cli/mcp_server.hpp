// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cudal1::cli {

// What a tool gives back: an object, or what went wrong and what to do about it.
struct ToolResult {
  nlohmann::ordered_json value;
  std::string error;   // empty: `value` holds
};

// What a call may be told of while it works, and how it learns that nobody waits any more.
struct ToolCall {
  nlohmann::ordered_json arguments;
  std::function<void(const std::string&)> progress;   // an event, cudal1-json(5); does nothing where nobody asked
  std::stop_token stop;
};

struct Tool {
  std::string name, description;
  nlohmann::ordered_json input;   // JSON Schema of the arguments
  bool only_reads = false;        // it leaves no file behind
  std::function<ToolResult(const ToolCall&)> call;
};

// A server of the Model Context Protocol (modelcontextprotocol.io, revisions 2024-11-05 to 2025-11-25): JSON-RPC 2.0, one
// message a line. Calls run at the same time, each on a thread of its own, and end early when the client cancels them or
// closes the input, which also ends the server.
void serve_mcp(const std::vector<Tool>& tools, std::FILE* in, std::FILE* out);

}  // namespace cudal1::cli
