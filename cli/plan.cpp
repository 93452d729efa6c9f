// SPDX-License-Identifier: Apache-2.0
// What a kernel file launches at given sizes, evaluated: for programs that launch it themselves, such as the Python package.
#include "command_line.hpp"
#include "task_options.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "kernel/output.hpp"
#include "kernel/plan.hpp"
#include "task/task.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

struct PlanOptions {
  std::string file;
  std::vector<std::string> set;
  bool as_json = false;
};

constexpr std::array role_names{"input", "output", "inout", "scratch"};
constexpr std::array element_names{"uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16", "tf32"};

// Number by number; a size of a kernel is an integer, a scalar may be real.
json sizes_json(const std::map<std::string, std::int64_t>& sizes) {
  json object = json::object();
  for (const auto& [name, value] : sizes) object[name] = value;
  return object;
}

json argument_json(const kernel::Argument& argument) {
  if (const auto* buffer = std::get_if<kernel::BufferArgument>(&argument)) return {{"buffer", buffer->buffer}, {"offset_bytes", buffer->byte_offset}};
  if (const auto* map = std::get_if<kernel::TensorMapArgument>(&argument))
    return {{"tensor_map", {{"buffer", map->buffer}, {"offset_bytes", map->byte_offset}, {"element", element_names.at(static_cast<std::size_t>(map->element))},
                            {"extents", map->extents}, {"strides_bytes", map->strides}, {"box", map->box}, {"swizzle_bytes", map->swizzle}}}};
  const auto& scalar = std::get<kernel::ScalarArgument>(argument);
  std::string bytes;
  for (std::size_t i = 0; i < scalar.size; ++i) bytes += fmt::format("{:02x}", static_cast<unsigned>(scalar.bytes.at(i)));
  return {{"bytes", bytes}};
}

json step_json(const kernel::PlanStep& step) {
  if (const auto* fill = std::get_if<kernel::Memset>(&step)) return {{"memset", fill->buffer}, {"byte", fill->value}};
  if (const auto* copy = std::get_if<kernel::Copy>(&step)) return {{"copy", copy->buffer}, {"variable", copy->variable}};
  const auto& launch = std::get<kernel::Launch>(step);
  json arguments = json::array();
  for (const auto& argument : launch.arguments) arguments.push_back(argument_json(argument));
  return {{"kernel", launch.kernel},         {"grid", launch.grid},       {"block", launch.block},
          {"cluster", launch.cluster},       {"shared_bytes", launch.shared_bytes}, {"cooperative", launch.cooperative},
          {"arguments", std::move(arguments)}};
}

// The expression of each extent, as written; scratch buffers need none.
std::vector<std::string> extent_texts(const kernel::File& file, const std::string& name) {
  std::vector<std::string> texts;
  for (const auto& buffer : file.buffers)
    if (buffer.name == name)
      for (const auto& extent : buffer.shape) texts.push_back(extent.text());
  return texts;
}

json buffers_json(const kernel::File& file, const kernel::Plan& plan) {
  json list = json::array();
  for (const auto& buffer : plan.buffers)
    list.push_back({{"name", buffer.name},
                    {"role", role_names.at(static_cast<std::size_t>(buffer.role))},
                    {"dtype", tensor::name(buffer.dtype)},
                    {"extents", extent_texts(file, buffer.name)},
                    {"shape", buffer.shape},
                    {"bytes", buffer.bytes},
                    {"initial", buffer.initial ? json(*buffer.initial) : json()},
                    {"within", buffer.stride == 0 ? json() : json{{"memory", buffer.memory}, {"offset", buffer.offset}, {"stride", buffer.stride}}}});
  return list;
}

// Names whose value is an integer literal are the user's to choose; the others follow from them.
json declared_json(const kernel::File& file, const task::Workload& workload) {
  json free = json::array(), derived = json::object();
  for (const auto& line : file.sizes)
    for (const auto& [name, value] : line.values) {
      if (!value.names().empty()) derived[name] = value.text();
      else if (std::find(free.begin(), free.end(), name) == free.end()) free.push_back(name);
    }
  json values = json::object();
  for (const auto& name : free) values[name.get<std::string>()] = workload.sizes.at(name.get<std::string>());
  return {{"sizes", values}, {"derived", derived}};
}

std::string as_text(const kernel::Plan& plan, const std::string& label) {
  std::string text = label.empty() ? "" : label + "\n";
  for (const auto& buffer : plan.buffers)
    text += fmt::format("  {:<8} {}: {}[{}]\n", role_names.at(static_cast<std::size_t>(buffer.role)), buffer.name, tensor::name(buffer.dtype), fmt::join(buffer.shape, ", "));
  for (const auto& step : plan.steps) {
    if (const auto* fill = std::get_if<kernel::Memset>(&step)) {
      text += fmt::format("  memset   {} = {}\n", plan.buffers[fill->buffer].name, fill->value);
      continue;
    }
    if (const auto* copy = std::get_if<kernel::Copy>(&step)) {
      text += fmt::format("  copy     {} = {}\n", copy->variable, plan.buffers[copy->buffer].name);
      continue;
    }
    const auto& launch = std::get<kernel::Launch>(step);
    text += fmt::format("  launch   {}<<<({}), ({}), {}>>> with {} arguments\n", launch.kernel, fmt::join(launch.grid, ", "), fmt::join(launch.block, ", "),
                        launch.shared_bytes, launch.arguments.size());
  }
  return text;
}

ExitCode run_plan(const PlanOptions& options, const Console& console) {
  const std::string source = base::read_file(options.file);
  const task::Task task = task::from_source(source, options.file, overrides(options.set), std::numeric_limits<std::size_t>::max());
  const auto members = kernel::family(task.file);
  if (!members) throw base::Error(base::Fault::bad_input, base::render(members.error()));
  const task::Workload& workload = task.workloads.front();
  kernel::Environment environment = workload.environment;
  for (const auto& [name, value] : members->front()) environment[name] = value;
  const auto plan = kernel::resolve(task.file, environment);
  if (!plan) throw base::Error(base::Fault::bad_input, base::render(plan.error()));
  if (!options.as_json) {
    console.result(as_text(*plan, workload.label()));
    return ExitCode::success;
  }
  json steps = json::array(), verified = json::array();
  for (const auto& step : plan->steps) steps.push_back(step_json(step));
  for (const auto& sizes : kernel::verified_sizes(source)) verified.push_back(sizes_json(sizes));
  json object{{"schema", 1}, {"task", task.name()}};
  object.update(declared_json(task.file, workload));
  object["values"] = sizes_json(workload.sizes);
  object["verified"] = std::move(verified);
  object["buffers"] = buffers_json(task.file, *plan);
  object["steps"] = std::move(steps);
  console.result(object.dump(2) + "\n");
  return ExitCode::success;
}

}  // namespace

void add_plan(CommandLine& line) {
  auto options = std::make_shared<PlanOptions>();
  Arguments app = line.add("plan", "Print what a kernel file launches at given sizes", manual_group, [options, &line] { return run_plan(*options, line.console); });
  app.add_option("FILE", options->file, "Kernel file")->required();
  app.add_option("--set", options->set, "Other values for the file's sizes")->option_text("NAME=VALUE")->one_value();
  app.add_flag("--json", options->as_json, "Print one JSON object");
}

}  // namespace cudal1::cli
