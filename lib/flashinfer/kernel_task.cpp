// SPDX-License-Identifier: Apache-2.0
#include "flashinfer/kernel_task.hpp"

#include "base/error.hpp"
#include "flashinfer/reference_line.hpp"
#include "kernel/file.hpp"
#include "kernel/output.hpp"
#include "kernel/plan.hpp"
#include "kernel/substitute.hpp"
#include "playbook/playbook.hpp"
#include "task/interface.hpp"
#include "tensor/graph.hpp"
#include "tensor/shape.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::flashinfer {

namespace fs = std::filesystem;

namespace {

using Kind = Definition::Axis::Kind;
using Source = Workload::Input::Kind;

constexpr const char* workload_size = "workload";   // numbers the workloads where files differ between them

// An axis as an extent of a shape.
std::string extent(const Definition& definition, const std::string& name) {
  const auto& axis = definition.axis(name);
  if (axis.kind == Kind::variable) return name;
  if (axis.kind == Kind::constant) return std::to_string(axis.value);
  std::string text;
  for (std::size_t i = 0; i < axis.text.size();) {
    if (std::isalpha(static_cast<unsigned char>(axis.text[i])) != 0 || axis.text[i] == '_') {
      std::size_t end = i;
      while (end < axis.text.size() && (std::isalnum(static_cast<unsigned char>(axis.text[end])) != 0 || axis.text[end] == '_')) ++end;
      text += fmt::format("({})", extent(definition, axis.text.substr(i, end - i)));
      i = end;
    } else if (axis.text.compare(i, 2, "//") == 0) {
      text += '/';
      i += 2;
    } else {
      text += axis.text[i++];
    }
  }
  return text;
}

std::vector<std::string> variable_axes(const Definition& definition) {
  std::vector<std::string> names;
  for (const auto& axis : definition.axes)
    if (axis.kind == Kind::variable) names.push_back(axis.name);
  return names;
}

bool reads_files(const Definition& definition, const std::vector<Workload>& workloads) {
  return std::any_of(definition.inputs.begin(), definition.inputs.end(), [&](const auto& input) {
    return std::any_of(workloads.begin(), workloads.end(), [&](const Workload& each) { return each.inputs.at(input.name).kind == Source::file; });
  });
}

bool files_differ(const Definition& definition, const std::vector<Workload>& workloads) {
  return std::any_of(definition.inputs.begin(), definition.inputs.end(), [&](const auto& input) {
    return std::any_of(workloads.begin(), workloads.end(), [&](const Workload& each) {
      const auto& own = each.inputs.at(input.name);
      return own.kind == Source::file && own != workloads.front().inputs.at(input.name);
    });
  });
}

double elements(const Definition& definition, const Workload& workload) {
  double all = 0;
  for (const auto* tensors : {&definition.inputs, &definition.outputs})
    for (const auto& tensor : *tensors) {
      double count = 1;
      for (const std::string& axis : tensor.shape) {
        const auto& known = definition.axis(axis);
        count *= known.kind == Kind::variable ? static_cast<double>(workload.axes.at(axis)) : known.kind == Kind::constant ? static_cast<double>(known.value) : 1;
      }
      all += count;
    }
  return all;
}

// What a data set calls a random integer.
std::string random_values(tensor::Dtype dtype) {
  switch (dtype) {
    case tensor::Dtype::int8: return " ~ randint(-128, 128)";
    case tensor::Dtype::int16:
    case tensor::Dtype::int32:
    case tensor::Dtype::int64: return " ~ randint(-1024, 1024)";
    default: return "";
  }
}

// A file of the data set, whose folders hold the definition.
std::string found(const fs::path& file, const fs::path& definition) {
  if (file.is_absolute()) return file.string();
  for (fs::path folder = fs::absolute(definition).parent_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / file)) return (folder / file).string();
    if (folder == folder.parent_path()) break;
  }
  throw base::Error(base::Fault::missing, fmt::format("{}: the input file {} is neither in its folder nor in one that this lies in", definition.string(), file.string()));
}

class Writer {
 public:
  Writer(const Definition& definition, const std::vector<Workload>& workloads, fs::path path) : definition_(definition), workloads_(workloads), path_(std::move(path)) {}

  std::string directives() {
    const bool numbered = files_differ(definition_, workloads_);
    std::string text = fmt::format("//@ task    {}\n", task_name(definition_));
    text += fmt::format("//@ torch   {}\n", reference_line(definition_, path_.string(), [this](const std::string& line, const std::string& name) { return type_of(line, name); }));
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      std::vector<std::string> values;
      for (const std::string& axis : variable_axes(definition_)) values.push_back(fmt::format("{} = {}", axis, workloads_[i].axes.at(axis)));
      if (numbered) values.push_back(fmt::format("{} = {}", workload_size, i));
      if (!values.empty()) text += fmt::format("//@ size    {}\n", fmt::join(values, ", "));
    }
    text += checks(numbered);
    for (const auto& input : definition_.inputs)
      if (input.scalar) text += fmt::format("//@ scalar  {}: {} = {}\n", input.name, tensor::name(input.dtype), scalar(input));
    for (const auto& input : definition_.inputs)
      if (!input.scalar) text += fmt::format("//@ input   {}: {}[{}]{}\n", input.name, tensor::name(input.dtype), shape(input), values(input, numbered));
    for (const auto& output : definition_.outputs) text += fmt::format("//@ output  {}: {}[{}]\n", output.name, tensor::name(output.dtype), shape(output));
    return text;
  }

 private:
  std::string shape(const Definition::Tensor& tensor) const {
    std::vector<std::string> extents;
    for (const std::string& axis : tensor.shape) extents.push_back(extent(definition_, axis));
    return tensor.shape.empty() ? "1" : fmt::format("{}", fmt::join(extents, ", "));
  }

  // Small sizes of the variable axes; constants stay, because a solution may count on them. Where sizes hang together or lie in a
  // file, the smallest workload.
  std::string checks(bool numbered) const {
    const auto axes = variable_axes(definition_);
    if (axes.empty()) return "";
    std::string text;
    if (definition_.constrained || reads_files(definition_, workloads_)) {
      const auto smallest = std::min_element(workloads_.begin(), workloads_.end(), [&](const Workload& a, const Workload& b) { return elements(definition_, a) < elements(definition_, b); });
      std::vector<std::string> values;
      for (const std::string& axis : axes) values.push_back(fmt::format("{} = {}", axis, smallest->axes.at(axis)));
      if (numbered) values.push_back(fmt::format("{} = {}", workload_size, smallest - workloads_.begin()));
      return fmt::format("//@ check   {}\n", fmt::join(values, ", "));
    }
    constexpr std::array<std::array<int, 4>, 2> ragged{{{3, 5, 2, 7}, {17, 6, 9, 4}}};
    for (const auto& extents : ragged) {
      std::vector<std::string> values;
      for (std::size_t i = 0; i < axes.size(); ++i) values.push_back(fmt::format("{} = {}", axes[i], extents[i % extents.size()]));
      text += fmt::format("//@ check   {}\n", fmt::join(values, ", "));
    }
    return text;
  }

  std::string scalar(const Definition::Tensor& input) const {
    const std::string value = workloads_.front().inputs.at(input.name).value;
    for (const Workload& workload : workloads_)
      if (workload.inputs.at(input.name).value != value)
        throw base::Error(base::Fault::bad_task, fmt::format("{}: the scalar {} has several values in the workloads, which is not understood", path_.string(), input.name));
    return value;
  }

  std::string values(const Definition::Tensor& input, bool numbered) const {
    if (workloads_.front().inputs.at(input.name).kind != Source::file) return random_values(input.dtype);
    std::vector<std::string> files;
    for (const Workload& workload : workloads_) {
      const auto& source = workload.inputs.at(input.name);
      if (source.kind != Source::file)
        throw base::Error(base::Fault::bad_task, fmt::format("{}: the input {} is random in one workload and a file in another, which is not understood", path_.string(), input.name));
      files.push_back(fmt::format("\"{}#{}\"", found(source.path, path_), source.key));
      if (!numbered) break;
    }
    return numbered ? fmt::format(" ~ file({}, {})", workload_size, fmt::join(files, ", ")) : fmt::format(" ~ file({})", files.front());
  }

  // By inference at the first workload.
  std::string type_of(const std::string& line, const std::string& name) const {
    std::map<std::string, tensor::Type> types;
    std::vector<std::string> inputs, sizes;
    std::map<std::string, std::int64_t> values = workloads_.front().axes;
    for (const auto& [axis, value] : values) sizes.push_back(axis);
    kernel::Environment environment;
    for (const auto& [axis, value] : values) environment[axis] = value;
    for (const auto& input : definition_.inputs) {
      if (input.scalar) {
        sizes.push_back(input.name);
        continue;
      }
      inputs.push_back(input.name);
      tensor::Type type{input.dtype, {}};
      for (const std::string& axis : input.shape) {
        const auto expression = kernel::Expression::parse(extent(definition_, axis));
        const auto value = expression ? expression->evaluate_integer(environment) : tl::unexpected(expression.error());
        if (!value) return "";
        type.shape.push_back({std::to_string(*value), {*value}});
      }
      types[input.name] = std::move(type);
    }
    const std::string probe = "cudal1_type_of";
    const auto graph = tensor::parse(fmt::format("{}{}{} = {}", line, line.empty() ? "" : "; ", probe, name), inputs, sizes, {probe});
    if (!graph) return "";
    const auto inferred = tensor::infer(*graph, types, {values});
    if (!inferred) return "";
    return std::string(tensor::name((*inferred)[static_cast<std::size_t>(graph->outputs.front().second)].dtype));
  }

  const Definition& definition_;
  const std::vector<Workload>& workloads_;
  fs::path path_;
};

}  // namespace

std::string task_name(const Definition& definition) {
  std::string name;
  for (const char c : definition.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? "task_" + name : name;
}

std::vector<Workload> spread(const Definition& definition, const std::vector<Workload>& workloads, std::size_t most) {
  std::vector<Workload> all;
  for (const Workload& workload : workloads)
    if (std::none_of(all.begin(), all.end(), [&](const Workload& other) { return other.axes == workload.axes && other.inputs == workload.inputs; })) all.push_back(workload);
  std::stable_sort(all.begin(), all.end(), [&](const Workload& a, const Workload& b) { return elements(definition, a) < elements(definition, b); });
  if (all.size() <= most || most == 0) return all;
  std::vector<Workload> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(all[most == 1 ? all.size() - 1 : i * (all.size() - 1) / (most - 1)]);
  return chosen;
}

fs::path workloads_of(const Definition& definition, const fs::path& path) {
  for (const char* file : {"workload.jsonl", "workloads.jsonl"})
    if (fs::exists(path.parent_path() / file)) return path.parent_path() / file;
  for (fs::path folder = fs::absolute(path).parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    const fs::path set = folder / "workloads";
    if (!fs::is_directory(set)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(set))
      if (entry.path().filename() == definition.name + ".jsonl") return entry.path();
  }
  return {};
}

std::string kernel_task(const Definition& definition, const std::vector<Workload>& workloads, const fs::path& path) {
  const std::string directives = Writer(definition, workloads, path).directives();
  const task::Task interface = task::without_launch(directives, path);
  if (!interface.torch)
    throw base::Error(base::Fault::bad_task, fmt::format("{}: its reference cannot be evaluated: {}\nWrite the task as a kernel file instead: cudal1 help kernel-file", path.string(), interface.no_oracle_reason));
  const auto answer = kernel::parse(playbook::plain_kernels(interface), path.string());
  if (!answer) throw base::Error(base::Fault::internal, base::render(answer.error()));
  const auto family = kernel::family(*answer);
  kernel::File whole = interface.file;
  const kernel::Environment tunables = family && !family->empty() ? family->front() : kernel::Environment{};
  const kernel::File fixed = kernel::with_tunables_fixed(*answer, tunables);
  whole.plan = fixed.plan;
  whole.scratches = fixed.scratches;
  return fmt::format("// Taken from {}: its function run, and a plain kernel for each of its operations.\n{}\n{}{}", path.filename().string(), kernel::print(whole),
                     kernel::tunable_prelude(tunables), kernel::code(*answer));
}

}  // namespace cudal1::flashinfer
