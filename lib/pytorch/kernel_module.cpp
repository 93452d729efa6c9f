// SPDX-License-Identifier: Apache-2.0
#include "pytorch/kernel_module.hpp"

#include "kernel/input_values.hpp"

#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::pytorch {

namespace {

using Kind = tensor::Distribution::Kind;

std::string python(const kernel::Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("float('{}')", *real);
  return fmt::format("{}", std::get<std::int64_t>(value));
}

std::string drawn(const kernel::Buffer& buffer, const task::Workload& workload) {
  const auto extents = kernel::extents(buffer.shape, workload.environment).value();
  const auto distribution = kernel::input_values(buffer, workload.environment).value();
  const std::string shape = fmt::format("[{}]", fmt::join(extents, ", "));
  const std::string cast = fmt::format(".to(torch.{})", tensor::name(buffer.dtype));
  switch (distribution.kind) {
    case Kind::uniform: return fmt::format("(torch.rand({}) * {} + {}){}", shape, distribution.high - distribution.low, distribution.low, cast);
    case Kind::randint:
      return fmt::format("torch.randint({:.0f}, {:.0f}, {}){}", distribution.low, distribution.high, shape, cast);
    case Kind::zeros: return fmt::format("torch.zeros({}){}", shape, cast);
    case Kind::ones: return fmt::format("torch.ones({}){}", shape, cast);
    case Kind::arange: return fmt::format("torch.arange(torch.Size({0}).numel()).reshape({0}){1}", shape, cast);
    case Kind::constant: return fmt::format("torch.full({}, float('{}')){}", shape, distribution.low, cast);
    case Kind::sorted:
      return fmt::format("(torch.rand({}) * {} + {}).flatten().sort().values.reshape({}){}", shape, distribution.high - distribution.low, distribution.low, shape, cast);
    case Kind::permutation: return fmt::format("torch.randperm(torch.Size({0}).numel()).reshape({0}){1}", shape, cast);
    case Kind::offsets: return fmt::format("torch.linspace(0, {:.0f}, torch.Size({}).numel()).floor().reshape({}){}", distribution.low, shape, shape, cast);
    case Kind::normal:
      if (distribution.low == 0 && distribution.high == 1) break;
      return fmt::format("(torch.randn({}) * {} + {}){}", shape, distribution.high, distribution.low, cast);
    case Kind::file:   // indices, as a rule, of which 0 is the one that always exists
      if (!tensor::is_floating(buffer.dtype)) return fmt::format("torch.zeros({}){}", shape, cast);
      break;
  }
  return fmt::format("torch.randn({}){}", shape, cast);
}

}  // namespace

std::string kernel_module(const task::Task& task, const task::Workload& workload) {
  if (!task.file.torch) return "";
  std::vector<std::string> names, values, results;
  for (const kernel::Buffer& buffer : task.file.buffers) {
    if (buffer.role != kernel::Buffer::Role::input) results.push_back(buffer.name + ".contiguous()");   // as a kernel's outputs are
    if (buffer.role == kernel::Buffer::Role::output) continue;
    names.push_back(buffer.name);
    values.push_back(drawn(buffer, workload));
  }
  std::string text = "import math\nimport torch\nimport torch.nn.functional as F\n";
  for (const auto& [name, value] : workload.environment) text += fmt::format("{} = {}\n", name, python(value));
  text += fmt::format("\n\nclass Model(torch.nn.Module):\n    def forward(self{}{}):\n        {}\n        return {}\n", names.empty() ? "" : ", ",
                      fmt::join(names, ", "), task.file.torch->first, fmt::join(results, ", "));
  text += fmt::format("\n\ndef get_inputs():\n    return [{}]\n", fmt::join(values, ",\n            "));
  return text + "\n\ndef get_init_inputs():\n    return []\n";
}

}  // namespace cudal1::pytorch
