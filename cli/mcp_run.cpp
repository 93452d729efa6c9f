// SPDX-License-Identifier: Apache-2.0
#include "mcp_run.hpp"

#include "own_command.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int endless = 1000;            // rounds of one answer each, until finish_run
constexpr const char* kept = "mcp.json"; // the arguments of the run, in its folder
constexpr const char* prompt_ending = ".prompt.md";

fs::path exchange(const fs::path& run) { return run / "exchange"; }

// The question that has no reply yet; empty: none is asked.
std::string pending(const fs::path& run) {
  std::vector<std::string> keys;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(exchange(run), none)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(prompt_ending)) continue;
    const std::string key = name.substr(0, name.size() - std::string_view(prompt_ending).size());
    if (!fs::exists(exchange(run) / (key + ".md"))) keys.push_back(key);
  }
  return keys.empty() ? "" : *std::max_element(keys.begin(), keys.end());
}

json arguments_of(const fs::path& run) {
  std::error_code none;
  if (!fs::exists(run / kept, none))
    throw base::Error(base::Fault::usage, fmt::format("{} is no run of an agent; start_run begins one", run.string()));
  return json::parse(base::read_file(run / kept));
}

// The command goes on until it waits for a reply or is at its end.
ToolResult go_on(const ToolCall& call, const fs::path& run, const json& arguments) {
  std::vector<std::string> command{"optimize", arguments.at("task").get<std::string>(), "--out", run.string(), "--model",
                                   "exchange:" + exchange(run).string(), "--samples", "1", "--rounds",
                                   std::to_string(arguments.value("rounds", endless))};
  if (arguments.value("ablate", false)) command.push_back("--ablate");
  add_options(command, arguments);
  ToolResult result = own_command(call, command);
  std::error_code none;
  if (result.error.empty() && fs::is_directory(run, none)) base::write_file(run / kept, arguments.dump(2) + "\n");
  return result;
}

json standing(const fs::path& run, const json& document) {
  json state{{"run", run.string()}, {"task", document.value("task", "")}, {"device", document.value("device", "")},
             {"reference_time_ms", document.value("reference_time_ms", json())}, {"judged", document.value("judged", json())},
             {"best", document.value("best", json())}, {"stopped_because", document.value("stopped_because", json())}};
  const std::string key = pending(run);
  if (document.value("stopped_because", "") == "pending" && !key.empty()) {
    state["answers"] = key;
    state["prompt"] = base::read_file(exchange(run) / (key + prompt_ending));
  } else {
    state["stop_reason"] = document.value("stop_reason", json());
    state["ablation"] = document.value("ablation", json());
  }
  return state;
}

std::string reply_of(const json& arguments) {
  if (arguments.contains("reply")) return arguments["reply"].get<std::string>();
  if (!arguments.contains("source")) return "";
  const std::string techniques = arguments.value("techniques", "");
  return fmt::format("## Performance Analysis\n\n{}\n\n## Algorithm Design\n\n{}\n\n## Code Implementation\n\n```cuda\n{}\n```\n",
                     arguments.value("analysis", "Not given."), techniques.empty() ? "Not given." : "Techniques: " + techniques,
                     arguments["source"].get<std::string>());
}

fs::path run_of(const ToolCall& call) { return call.arguments.at("run").get<std::string>(); }

}  // namespace

ToolResult start_run(const ToolCall& call) {
  const fs::path task = call.arguments.at("task").get<std::string>();
  const fs::path run = call.arguments.value("run", (fs::path("cudal1-runs") / (task.stem().string() + "-agent")).string());
  json arguments = call.arguments;
  arguments.erase("run");
  if (std::error_code none; fs::exists(run / kept, none)) {   // what ended it stays, what is asked for now counts
    const json before = arguments_of(run);
    for (const char* name : {"rounds", "ablate"})
      if (before.contains(name)) arguments[name] = before[name];
  }
  ToolResult result = go_on(call, run, arguments);
  if (result.error.empty()) result.value = standing(run, result.value);
  return result;
}

ToolResult submit_variant(const ToolCall& call) {
  const fs::path run = run_of(call);
  const json arguments = arguments_of(run);
  const std::string key = pending(run);
  if (key.empty()) return {{}, fmt::format("{} waits for no answer; start_run goes on with it", run.string())};
  const std::string reply = reply_of(call.arguments);
  if (reply.empty()) return {{}, "name the answer: `source` holds the kernel file, or `reply` the whole reply"};
  base::write_file(exchange(run) / (key + ".md"), reply);
  ToolResult result = go_on(call, run, arguments);
  if (!result.error.empty()) return result;
  json state = standing(run, result.value);
  json variant = nullptr;
  for (json& each : result.value["variants"])
    if (each.value("id", "").starts_with(key)) variant = std::move(each);
  for (const char* long_text : {"analysis", "design", "source"}) variant.erase(long_text);
  json first{{"variant", std::move(variant)}};
  first.update(state);
  result.value = std::move(first);
  return result;
}

ToolResult finish_run(const ToolCall& call) {
  const fs::path run = run_of(call);
  json arguments = arguments_of(run);
  const ToolResult now = own_command(call, {"report", run.string()});
  if (!now.error.empty()) return now;
  const int finished = now.value.value("rounds", 0);
  if (finished == 0) return {{}, fmt::format("{} has no finished round; submit_variant answers its first prompt", run.string())};
  if (const std::string open = pending(run); !open.empty()) fs::remove(exchange(run) / (open + prompt_ending));
  arguments["rounds"] = finished;
  arguments["ablate"] = call.arguments.value("ablate", false);
  ToolResult result = go_on(call, run, arguments);
  if (result.error.empty()) result.value = standing(run, result.value);
  return result;
}

ToolResult best_so_far(const ToolCall& call) {
  const fs::path run = run_of(call);
  ToolResult result = own_command(call, {"report", run.string()});
  if (!result.error.empty()) return result;
  const json best = result.value.value("best", json());
  json value{{"run", run.string()}, {"best", best}};
  if (best.is_object()) value["source"] = base::read_file(run / "variants" / (best.at("id").get<std::string>() + ".cu"));
  result.value = std::move(value);
  return result;
}

ToolResult run_report(const ToolCall& call) {
  const fs::path run = run_of(call);
  ToolResult result = own_command(call, {"report", run.string()});
  if (!result.error.empty() || call.arguments.value("format", "markdown") == "json") return result;
  std::error_code none;
  const fs::path file = run / "report.md";
  if (!fs::exists(file, none)) return {{}, fmt::format("{} has no report yet", run.string())};
  result.value = {{"run", run.string()}, {"markdown", base::read_file(file)}, {"html", (run / "report.html").string()}};
  return result;
}

}  // namespace cudal1::cli
