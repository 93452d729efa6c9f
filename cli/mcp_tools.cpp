// SPDX-License-Identifier: Apache-2.0
#include "mcp_tools.hpp"

#include "mcp_run.hpp"
#include "own_command.hpp"

#include "base/file.hpp"

#include <optional>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

json text(const std::string& description) { return {{"type", "string"}, {"description", description}}; }
json flag(const std::string& description) { return {{"type", "boolean"}, {"description", description}}; }

json task_fields() {
  return {{"task", text("Path of the task: a kernel file (.cu) or a PyTorch module (.py)")},
          {"device", text("auto, cuda:N or sim (the simulator: predictions, no GPU needed)")},
          {"gpu", text("The GPU whose times the simulator predicts; bench_variant takes several, with commas, or all")},
          {"sizes", {{"type", "object"}, {"description", "Other values for the task's sizes"}, {"additionalProperties", {{"type", "integer"}}}}},
          {"options", {{"type", "array"}, {"description", "Further options of the command line"}, {"items", {{"type", "string"}}}}}};
}

json fields(json base, const json& more) {
  for (const auto& [name, schema] : more.items()) base[name] = schema;
  return base;
}

json schema(const json& fields, const std::vector<std::string>& required) {
  return {{"type", "object"}, {"properties", fields}, {"required", required}};
}

json variant_fields() {
  return {{"source", text("The kernel file itself: //@ launch lines and device code")}, {"file", text("Or its path")}};
}

// The kernel file of a call, as a file.
struct VariantFile {
  explicit VariantFile(const json& arguments) {
    path = arguments.value("file", "");
    if (!arguments.contains("source")) return;
    path = folder.emplace().path() / "variant.cu";
    base::write_file(path, arguments["source"].get<std::string>());
  }
  std::optional<base::TemporaryFolder> folder;
  std::filesystem::path path;
};

ToolResult judged(const ToolCall& call, std::vector<std::string> command) {
  const VariantFile variant(call.arguments);
  if (variant.path.empty()) return {{}, "name the variant: `source` holds the kernel file, or `file` its path"};
  command.insert(command.begin() + 1, {call.arguments.at("task").get<std::string>(), variant.path.string()});
  add_options(command, call.arguments);
  return own_command(call, command);
}

Tool judging(const std::string& name, const std::string& description, const std::vector<std::string>& command) {
  return {name, description, schema(fields(task_fields(), variant_fields()), {"task"}), true,
          [command](const ToolCall& call) { return judged(call, command); }};
}

ToolResult described(const ToolCall& call) {
  std::vector<std::string> command{"optimize", call.arguments.at("task").get<std::string>(), "--dry-run", "--model", "builtin"};
  add_options(command, call.arguments);
  return own_command(call, command);
}

ToolResult compiled(const ToolCall& call) {
  const VariantFile variant(call.arguments);
  if (variant.path.empty()) return {{}, "name the device code: `source` holds it, or `file` its path"};
  std::vector<std::string> command{"compile", variant.path.string()};
  if (call.arguments.contains("gpu")) command.insert(command.end(), {"--gpu", call.arguments["gpu"].get<std::string>()});
  return own_command(call, command);
}

}  // namespace

std::vector<Tool> mcp_tools() {
  const json run = {{"run", text("The run's folder, as start_run gave it")}};
  std::vector<Tool> tools;
  tools.push_back({"describe_task", "Returns the task, the times of its reference, and the prompt that a model would get. Stores nothing.",
                   schema(task_fields(), {"task"}), true, described});
  tools.push_back({"compile", "Compiles device code with NVRTC: messages, registers, shared memory, spills.",
                   schema(fields(variant_fields(), {{"gpu", text("The GPU to compile for")}}), {}), true, compiled});
  tools.push_back(judging("verify_variant", "Says whether a kernel file is right: compiles it, runs it on many inputs, and compares its outputs with the right ones.", {"verify"}));
  tools.push_back(judging("bench_variant", "Says how fast a kernel file is compared with the reference, with an interval, and what limits it.", {"bench"}));
  tools.push_back(judging("profile_variant", "Does what bench_variant does, and returns what the hardware or the simulator counted.", {"bench", "--counters"}));
  tools.push_back({"start_run",
                   "Begins or resumes a run, and returns the prompt to answer with submit_variant. Every answer is kept in the run's folder.",
                   schema(fields(task_fields(), {{"run", text("Its folder [default: cudal1-runs/TASK-agent]")}}), {"task"}), false, start_run});
  tools.push_back({"submit_variant",
                   "Answers the run's prompt. The variant is compiled, verified, timed and kept; the next prompt shows it beside its score.",
                   schema(fields(run, {{"source", text("The kernel file")},
                                       {"analysis", text("Why this should be faster, before the code: what limits the variants that were shown")},
                                       {"techniques", text("Comma-separated names of the techniques used")},
                                       {"reply", text("Instead of source, analysis and techniques: a whole reply with the three sections that the prompt asks for")}}),
                          {"run"}),
                   false, submit_variant});
  tools.push_back({"best_so_far", "The run's fastest right variant, with its source and verdict.", schema(run, {"run"}), true, best_so_far});
  tools.push_back({"finish_run", "Ends the rounds, takes final verdicts and writes the report. With `ablate`, prompts follow that ask for the winner without its techniques, one by one.",
                   schema(fields(run, {{"ablate", flag("Find out what each technique brought")}}), {"run"}), false, finish_run});
  tools.push_back({"report", "The run's report.",
                   schema(fields(run, {{"format", {{"type", "string"}, {"enum", {"markdown", "json"}}}}}), {"run"}), true, run_report});
  return tools;
}

}  // namespace cudal1::cli
