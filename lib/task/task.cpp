// SPDX-License-Identifier: Apache-2.0
#include "task/task.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "kernel/checker.hpp"
#include "kernel/expectation.hpp"
#include "kernel/plan.hpp"
#include "kernel/workload.hpp"
#include "task/check_sizes.hpp"
#include "task/interface.hpp"
#include "task/module.hpp"
#include "task/neighbours.hpp"
#include "tensor/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace cudal1::task {

namespace {

using Overrides = std::map<std::string, std::int64_t>;
using Role = kernel::Buffer::Role;

[[noreturn]] void refuse(const std::string& message) { throw base::Error(base::Fault::bad_task, message); }

template <typename T, typename E>
T value_or_refuse(tl::expected<T, E> result) {
  if (!result) refuse(base::render(result.error()));
  return std::move(*result);
}

Workload make_workload(const kernel::Assignment& assignment, kernel::Environment environment) {
  Workload workload;
  for (const auto& [name, value] : environment)
    if (const auto* integer = std::get_if<std::int64_t>(&value)) workload.sizes[name] = *integer;
  workload.environment = std::move(environment);
  workload.weight = assignment.weight;
  for (const auto& [name, expression] : assignment.values)
    if (expression.names().empty()) workload.declared.push_back(name);
  return workload;
}

kernel::Environment values_of(const Overrides& overrides) { return {overrides.begin(), overrides.end()}; }

void require_known_overrides(const kernel::File& file, const Overrides& overrides) {
  std::vector<std::string> known;
  const auto assignments = kernel::workloads(file);
  for (const auto& [name, expression] : assignments.front().values) known.push_back(name);
  for (const auto& [name, value] : overrides) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = base::nearest(name, known);
    throw base::Error(base::Fault::usage,
                      fmt::format("--set {}={}: the task has no size \"{}\"; its sizes are {}{}", name, value, name, fmt::join(known, ", "),
                                  near ? fmt::format(" (did you mean \"{}\"?)", *near) : ""));
  }
}

// A plan for every workload and check size proves that shapes, grids and argument types fit before anything runs.
void require_plan(const Task& task, const Workload& workload, std::size_t memory_limit) {
  const auto& file = task.file;
  const auto plan = is_module(task) || file.plan.empty() ? interface_plan(task, workload) : value_or_refuse(kernel::resolve(file, workload.environment));
  double bytes = 0;
  for (const auto& buffer : plan.buffers) bytes += static_cast<double>(buffer.bytes);
  if (bytes > static_cast<double>(memory_limit))
    refuse(fmt::format("{}: at {} the buffers need {:.1f} GiB, more than the {:.1f} GiB at hand; use smaller sizes, for "
                       "example with --set",
                       file.name, workload.label(), bytes / (1 << 30), static_cast<double>(memory_limit) / (1 << 30)));
}

// Extents of a buffer at every assignment; the text stays the kernel file's own expression.
tensor::Type type_of(const kernel::Buffer& buffer, const std::vector<const Workload*>& assignments) {
  tensor::Type type{buffer.dtype, {}};
  for (const auto& expression : buffer.shape) {
    tensor::Extent extent{expression.text(), {}};
    for (const auto* workload : assignments)
      extent.values.push_back(value_or_refuse(expression.evaluate_integer(workload->environment)));
    type.shape.push_back(std::move(extent));
  }
  return type;
}

std::map<std::string, tensor::Type> types_of(const Task& task, bool outputs) {
  std::vector<const Workload*> assignments;
  for (const auto& workload : task.workloads) assignments.push_back(&workload);
  for (const auto& workload : task.checks) assignments.push_back(&workload);
  std::map<std::string, tensor::Type> types;
  for (const auto& buffer : task.file.buffers)
    if (buffer.role == Role::inout || (buffer.role == Role::output) == outputs)
      types[buffer.name] = type_of(buffer, assignments);
  return types;
}

std::string extent_list(const tensor::Shape& shape, std::size_t assignment) {
  std::vector<std::string> parts;
  for (const auto& extent : shape) parts.push_back(std::to_string(extent.values[assignment]));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string extent_texts(const tensor::Shape& shape) {
  std::vector<std::string> parts;
  for (const auto& extent : shape) parts.push_back(extent.text);
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// "x: [rows * cols], w: [cols]"
std::string declared_shapes(const Task& task) {
  std::vector<std::string> parts;
  for (const auto& buffer : task.file.buffers) {
    if (buffer.role == Role::output) continue;
    std::vector<std::string> extents;
    for (const auto& extent : buffer.shape) extents.push_back(extent.text());
    parts.push_back(fmt::format("{}: [{}]", buffer.name, fmt::join(extents, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Where two shapes that are not the same have other extents.
std::size_t differing_assignment(const tensor::Shape& made, const tensor::Shape& declared) {
  const std::size_t count = made.empty() ? 0 : made.front().values.size();
  for (std::size_t i = 0; i < count; ++i)
    if (extent_list(made, i) != extent_list(declared, i)) return i;
  return 0;
}

// The torch line must produce what the interface declares, at every assignment.
void require_shapes(const Task& task, const tensor::Graph& graph) {
  auto inferred = tensor::infer(graph, task.input_types(), task.assignments());
  if (!inferred) {
    base::Diagnostic& error = inferred.error();
    const kernel::Place& place = task.file.torch->second;
    error.file = task.file.name;
    error.line = place.line;
    error.column += place.column - 1;
    if (error.hint.empty() && error.message.find("dim") != std::string::npos) error.hint = "declared: " + declared_shapes(task);
  }
  const auto types = value_or_refuse(std::move(inferred));
  const auto declared = task.output_types();
  for (const auto& [name, node] : graph.outputs) {
    const auto it = declared.find(name);
    if (it == declared.end()) continue;
    const auto& made = types[static_cast<std::size_t>(node)].shape;
    if (made == it->second.shape) continue;
    // At sizes where they differ: [W, H] and [H, W] are the same where both are 64.
    const std::size_t assignment = differing_assignment(made, it->second.shape);
    const Workload& workload = assignment < task.workloads.size() ? task.workloads[assignment] : task.checks[assignment - task.workloads.size()];
    const std::string texts = extent_texts(made) == extent_texts(it->second.shape) ? "" : fmt::format(": {} and {}", extent_texts(made), extent_texts(it->second.shape));
    refuse(fmt::format("{}:{}: the torch line gives {} the shape {}, but it is declared as {} (at {}){}", task.file.name,
                       task.file.torch->second.line, name, extent_list(made, assignment), extent_list(it->second.shape, assignment),
                       workload.label(), texts));
  }
}

void read_torch_line(Task& task) {
  if (!task.file.torch) {
    if (const auto checker = kernel::checker(task.file)) {  // it says what is right
      if (!std::filesystem::exists(checker->path))
        throw base::Error(base::Fault::missing, fmt::format("{}:{}: there is no checker {}", task.file.name, checker->place.line, checker->path.string()));
      return;
    }
    task.no_oracle_reason = kernel::expectations(task.file).empty() ? "the task has no torch line"
                                                           : "the task has no torch line: outputs are compared with recorded ones, and for other inputs with its own kernel's";
    return;
  }
  if (const auto checker = kernel::checker(task.file))
    refuse(fmt::format("{}:{}: a task has a torch line or a checker, not both", task.file.name, checker->place.line));
  const auto& [text, place] = *task.file.torch;
  std::vector<std::string> inputs, outputs, sizes;
  for (const auto& buffer : task.file.buffers) {
    if (buffer.role != Role::output) inputs.push_back(buffer.name);
    if (buffer.role != Role::input) outputs.push_back(buffer.name);
  }
  for (const auto& [name, value] : task.workloads.front().environment) sizes.push_back(name);
  auto graph = tensor::parse(text, inputs, sizes, outputs, task.file.name, place.line, place.column);
  // A derived line that the evaluator cannot read is nobody's mistake: PyTorch itself is the oracle.
  if (!graph && (is_module(task) || graph.error().severity == base::Diagnostic::Severity::warning)) {
    task.no_oracle_reason = graph.error().message;
    if (graph.error().hint.starts_with("did you mean")) task.no_oracle_reason += fmt::format(" ({})", graph.error().hint);
    return;
  }
  task.torch = value_or_refuse(std::move(graph));
}

void add_checks(Task& task, const Overrides& overrides) {
  const auto& file = task.file;
  for (const auto& check : kernel::checks(file))
    task.checks.push_back(make_workload(check, value_or_refuse(kernel::environment(file, check))));
  if (!task.checks.empty()) return;
  // Without a check line, small ragged sizes that the task's own shapes allow; its real sizes as the last resort.
  const auto first = kernel::workloads(file).front();
  for (const auto& sizes : ragged_sizes(first, kernel::size_rules(file, first))) {
    auto environment = kernel::environment(file, first, values_of(sizes));
    if (!environment || !kernel::resolve(file, *environment)) continue;
    Task trial = task;
    trial.checks = {make_workload(first, *environment)};
    if (trial.torch && !tensor::infer(*trial.torch, trial.input_types(), trial.assignments())) continue;
    const bool known = std::any_of(task.checks.begin(), task.checks.end(), [&](const Workload& other) { return other.environment == *environment; });
    if (!known) task.checks.push_back(trial.checks.front());
  }
  if (task.checks.empty())
    task.checks.push_back(make_workload(first, value_or_refuse(kernel::environment(file, first, values_of(overrides)))));
}

}  // namespace

std::string Workload::label() const {
  std::vector<std::string> parts;
  for (const auto& name : declared) parts.push_back(fmt::format("{}={}", name, sizes.at(name)));
  return parts.empty() ? "fixed sizes" : fmt::format("{}", fmt::join(parts, " "));
}

std::string Task::name() const { return file.task.empty() ? path.stem().string() : file.task; }

std::filesystem::path Task::folder() const {
  const auto parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

bool picks_checks(const Task& task) {
  return task.file.checks.empty() && !is_module(task) && !task.checks.empty() && !task.checks.front().declared.empty();
}

std::string picked_sizes_hint(const Task& task, std::string_view message) {
  if (!picks_checks(task)) return "";
  for (const Workload& picked : task.checks) {
    // Small sizes are kept as they are declared: naming them once more would change nothing.
    if (picked.label() == task.workloads.front().label() || message.find(picked.label()) == std::string_view::npos) continue;
    std::vector<std::string> values;
    for (const auto& name : picked.declared) values.push_back(fmt::format("{} = {}", name, task.workloads.front().sizes.at(name)));
    return fmt::format("\nThese sizes were picked, because the task has no check line. If the kernel does not take them, name smaller ones that it takes: //@ check {}",
                       fmt::join(values, ", "));
  }
  return "";
}

bool is_module(const Task& task) { return task.path.extension() == ".py"; }

kernel::Plan interface_plan(const Task& task, const Workload& workload) {
  kernel::Plan plan;
  for (const auto& buffer : task.file.buffers) {
    kernel::PlanBuffer& placed = plan.buffers.emplace_back();
    placed.role = buffer.role == Role::input    ? kernel::PlanBuffer::Role::input
                  : buffer.role == Role::output ? kernel::PlanBuffer::Role::output
                                                : kernel::PlanBuffer::Role::inout;
    placed.name = buffer.name;
    placed.dtype = buffer.dtype;
    placed.shape = value_or_refuse(kernel::extents(buffer.shape, workload.environment));
    placed.bytes = tensor::size_of(buffer.dtype);
    for (const auto extent : placed.shape) placed.bytes *= static_cast<std::size_t>(extent);
    kernel::place_within(placed, buffer.within);
  }
  return plan;
}

std::map<std::string, tensor::Type> Task::input_types() const { return types_of(*this, false); }
std::map<std::string, tensor::Type> Task::output_types() const { return types_of(*this, true); }

std::vector<tensor::Sizes> Task::assignments() const {
  std::vector<tensor::Sizes> result;
  for (const auto& workload : workloads) result.push_back(workload.sizes);
  for (const auto& workload : checks) result.push_back(workload.sizes);
  return result;
}

double Task::necessary_bytes(std::size_t workload) const {
  double bytes = 0;
  for (const auto& buffer : file.buffers) {
    const auto shape = value_or_refuse(kernel::extents(buffer.shape, workloads[workload].environment));
    double elements = 1;
    for (const auto extent : shape) elements *= static_cast<double>(extent);
    const int passes = buffer.role == Role::inout ? 2 : 1;
    bytes += passes * elements * static_cast<double>(tensor::size_of(buffer.dtype));
  }
  return bytes;
}

double Task::written_operations(std::size_t workload) const {
  if (!torch) return 0;
  const auto types = value_or_refuse(tensor::infer(*torch, input_types(), assignments()));
  return tensor::operations(*torch, types, workload);
}

namespace {

// The first check with every real number that is given by value a quarter larger, rounded to its type.
std::optional<Workload> other_scalars(const Task& task) {
  if (task.checks.empty()) return std::nullopt;
  Workload result = task.checks.front();
  bool any = false;
  for (const kernel::Scalar& scalar : task.file.scalars) {
    const auto held = result.environment.find(scalar.name);
    if (!tensor::is_floating(scalar.dtype) || held == result.environment.end()) continue;
    const double* value = std::get_if<double>(&held->second);
    if (value == nullptr || !std::isfinite(1.25 * *value)) continue;
    std::byte element[8];
    tensor::store(scalar.dtype, 1.25 * *value, element);
    held->second = tensor::load(scalar.dtype, element);
    any = true;
  }
  return any && kernel::resolve(task.file, result.environment) ? std::optional(result) : std::nullopt;
}

}  // namespace

std::vector<Workload> neighbours(const Task& task) {
  const kernel::File& file = task.file;
  const auto first = kernel::workloads(file).front();
  const auto declared = kernel::checks(file);
  const auto rules = kernel::size_rules(file, first);
  std::vector<std::pair<kernel::Assignment, Overrides>> proposals;
  if (!declared.empty()) proposals.emplace_back(declared.front(), next_sizes(declared.front(), rules));
  for (const auto& sizes : ragged_sizes(first, rules)) proposals.emplace_back(first, sizes);

  std::vector<Workload> result;
  const auto known = [&](const Workload& other) {
    const auto same = [&](const Workload& workload) { return workload.environment == other.environment; };
    return std::any_of(task.checks.begin(), task.checks.end(), same) ||
           std::any_of(task.workloads.begin(), task.workloads.end(), same) ||
           std::any_of(result.begin(), result.end(), same);
  };
  for (const auto& [assignment, sizes] : proposals) {
    auto environment = kernel::environment(file, assignment, values_of(sizes));
    if (!environment || !kernel::resolve(file, *environment)) continue;
    Task trial = task;
    trial.checks = {make_workload(assignment, *environment)};
    if (known(trial.checks.front())) continue;
    if (trial.torch && !tensor::infer(*trial.torch, trial.input_types(), trial.assignments())) continue;
    result.push_back(trial.checks.front());
  }
  if (const auto moved = other_scalars(task); moved && !known(*moved)) result.push_back(*moved);
  return result;
}

Task load(const std::filesystem::path& path, const Overrides& overrides, std::size_t memory_limit) {
  constexpr std::size_t largest_source = 16 << 20;
  return from_source(base::read_file(path, largest_source), path, overrides, memory_limit);
}

namespace {

Task read(std::string source, const std::filesystem::path& path, const Overrides& overrides, std::size_t memory_limit, bool needs_launch) {
  Task task;
  task.path = path;
  std::string identity = source;
  for (const auto& [name, value] : overrides) identity += fmt::format("\n--set {}={}", name, value);
  task.digest = base::sha256(identity);
  if (const auto valid = kernel::valid_host_text(source, path.string()); !valid) refuse(base::render(valid.error()));
  task.file = value_or_refuse(kernel::parse(std::move(source), path.string()));

  const auto& file = task.file;
  if (std::none_of(file.buffers.begin(), file.buffers.end(), [](const auto& b) { return b.role != Role::input; }))
    refuse(fmt::format("{}: the task declares no output; add a line such as \"//@ output C: float32[N]\"", file.name));
  if (file.plan.empty() && needs_launch && !is_module(task))
    refuse(fmt::format("{}: the task has no launch; add a line such as \"//@ launch kernel<<<ceil_div(N, 256), 256>>>(A, "
                       "C, N)\", or draft one with: cudal1 init {}",
                       file.name, file.name));
  if (!file.tunables.empty())
    refuse(fmt::format("{}: a task is one kernel, not a family; give {} one value as a constant in the code", file.name,
                       file.tunables.front().name));
  require_known_overrides(file, overrides);

  for (const auto& assignment : kernel::workloads(file))
    task.workloads.push_back(
        make_workload(assignment, value_or_refuse(kernel::environment(file, assignment, values_of(overrides)))));
  read_torch_line(task);
  add_checks(task, overrides);
  for (const auto& workload : task.workloads) require_plan(task, workload, memory_limit);
  for (const auto& workload : task.checks) require_plan(task, workload, memory_limit);
  if (task.torch && !is_module(task)) require_shapes(task, *task.torch);
  if (task.torch && is_module(task) && !tensor::infer(*task.torch, task.input_types(), task.assignments())) task.torch.reset();
  return task;
}

}  // namespace

Task from_source(std::string source, const std::filesystem::path& path, const Overrides& overrides, std::size_t memory_limit) {
  return read(std::move(source), path, overrides, memory_limit, true);
}

Task without_launch(std::string source, const std::filesystem::path& path) { return read(std::move(source), path, {}, std::size_t{1} << 50, false); }

}  // namespace cudal1::task
