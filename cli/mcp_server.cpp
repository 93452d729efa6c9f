// SPDX-License-Identifier: Apache-2.0
#include "mcp_server.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* revisions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

constexpr const char* instructions =
    "cudal1 makes CUDA kernels faster and proves what it says. Begin with start_run on a task file: it returns a prompt with the "
    "reference's measurements. Answer it with submit_variant, which returns the verdict and the next prompt, with earlier variants "
    "beside their scores. verify_variant, bench_variant and profile_variant judge a kernel file without a run.";

enum RpcError { parse_error = -32700, invalid_request = -32600, unknown_method = -32601, invalid_arguments = -32602 };

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

class Server {
 public:
  Server(const std::vector<Tool>& tools, std::FILE* out) : tools_(tools), out_(out) {}

  void take(const std::string& line) {
    const json message = json::parse(line, nullptr, false);
    if (message.is_discarded()) return fail(nullptr, parse_error, "a message is one line of JSON");
    if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
      if (message.is_object() && (message.contains("result") || message.contains("error"))) return;   // nothing was asked
      return fail(nullptr, invalid_request, "a message has a method");
    }
    const std::string method = message["method"];
    const json parameters = message.value("params", json::object());
    if (!message.contains("id")) {
      if (method == "notifications/cancelled" && parameters.contains("requestId")) cancel(parameters["requestId"]);
      return;
    }
    answer(message["id"], method, parameters);
  }

  // Nobody listens any more.
  void finish() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, thread] : calls_) thread.request_stop();
  }

 private:
  void answer(const json& id, const std::string& method, const json& parameters) {
    if (method == "initialize") return reply(id, greeting(parameters.value("protocolVersion", "")));
    if (method == "ping") return reply(id, json::object());
    if (method == "tools/list") return reply(id, list());
    if (method != "tools/call") return fail(id, unknown_method, method + " is not served");
    const std::string name = parameters.value("name", "");
    const auto tool = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& each) { return each.name == name; });
    if (tool == tools_.end()) return fail(id, invalid_arguments, fmt::format("there is no tool {}; tools/list names them", name));
    begin(id, *tool, parameters);
  }

  static json greeting(const std::string& wanted) {
    const bool known = std::find(std::begin(revisions), std::end(revisions), wanted) != std::end(revisions);
    return {{"protocolVersion", known ? wanted : *std::rbegin(revisions)},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", {{"name", "cudal1"}, {"version", CUDAL1_VERSION}}},
            {"instructions", instructions}};
  }

  json list() const {
    json tools = json::array();
    for (const Tool& tool : tools_)
      tools.push_back({{"name", tool.name},
                       {"description", tool.description},
                       {"inputSchema", tool.input},
                       {"annotations", {{"readOnlyHint", tool.only_reads}, {"destructiveHint", false}, {"openWorldHint", false}}}});
    return {{"tools", tools}};
  }

  // What is wrong with a call's arguments; empty: nothing.
  static std::string objection(const Tool& tool, const json& arguments) {
    if (!arguments.is_object()) return fmt::format("{}: its arguments are an object", tool.name);
    for (const auto& name : tool.input.at("required"))
      if (!arguments.contains(name.get<std::string>())) return fmt::format("{}: `{}` is missing", tool.name, name.get<std::string>());
    for (const auto& [name, value] : arguments.items())
      if (!tool.input.at("properties").contains(name)) return fmt::format("{} has no argument `{}`", tool.name, name);
    return "";
  }

  void begin(const json& id, const Tool& tool, const json& parameters) {
    const json token = parameters.value("_meta", json::object()).value("progressToken", json());
    const json arguments = parameters.value("arguments", json::object());
    if (const std::string wrong = objection(tool, arguments); !wrong.empty()) return reply(id, content({{}, wrong}));
    const std::lock_guard lock(mutex_);
    for (const std::string& each : std::exchange(over_, {})) calls_.erase(each);
    if (calls_.contains(text_of(id))) return fail(id, invalid_request, "a call with this id is under way");
    calls_[text_of(id)] = std::jthread([this, id, &tool, token, arguments](const std::stop_token& stop) {
      int told = 0;
      const auto progress = [&](const std::string& text) {
        if (token.is_null()) return;
        send({{"jsonrpc", "2.0"},
              {"method", "notifications/progress"},
              {"params", {{"progressToken", token}, {"progress", ++told}, {"message", text}}}});
      };
      ToolResult result;
      try {
        result = tool.call({arguments, progress, stop});
      } catch (const json::exception& error) {
        result.error = fmt::format("{}: an argument is of another type than its schema says ({})", tool.name, error.what());
      } catch (const base::Error& error) {
        result.error = error.what();
      } catch (const std::exception& error) {
        result.error = fmt::format("internal error: {}", error.what());
      }
      if (!stop.stop_requested()) reply(id, content(result));   // who cancelled gets no answer
      const std::lock_guard over(mutex_);
      over_.push_back(text_of(id));
    });
  }

  static json content(const ToolResult& result) {
    const bool failed = !result.error.empty();
    json reply{{"content", {{{"type", "text"}, {"text", failed ? result.error : text_of(result.value)}}}}, {"isError", failed}};
    if (!failed) reply["structuredContent"] = result.value;
    return reply;
  }

  void cancel(const json& id) {
    const std::lock_guard lock(mutex_);
    if (const auto found = calls_.find(text_of(id)); found != calls_.end()) found->second.request_stop();
  }

  void reply(const json& id, const json& result) { send({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}); }
  void fail(const json& id, RpcError code, const std::string& message) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}});
  }

  void send(const json& message) {
    const std::string line = text_of(message) + "\n";
    const std::lock_guard lock(output_);
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
  }

  const std::vector<Tool>& tools_;
  std::FILE* out_;
  std::mutex output_, mutex_;
  std::vector<std::string> over_;               // calls whose threads may be joined
  std::map<std::string, std::jthread> calls_;   // by the text of their id; joined before all that they use is gone
};

std::optional<std::string> next_line(std::FILE* in) {
  std::string line;
  for (int c = std::fgetc(in); c != EOF; c = std::fgetc(in)) {
    if (c == '\n') return line;
    line.push_back(static_cast<char>(c));
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

}  // namespace

void serve_mcp(const std::vector<Tool>& tools, std::FILE* in, std::FILE* out) {
  Server server(tools, out);
  while (const auto line = next_line(in))
    if (line->find_first_not_of(" \t\r") != std::string::npos) server.take(*line);
  server.finish();
}

}  // namespace cudal1::cli
