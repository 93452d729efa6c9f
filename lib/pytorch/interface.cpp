// SPDX-License-Identifier: Apache-2.0
#include "pytorch/interface.hpp"

#include "base/text.hpp"

#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::pytorch {

namespace {

std::string line(std::string_view word, const Interface::Tensor& tensor) {
  return fmt::format("//@ {:<7} {}: {}[{}]{}\n", word, tensor.name, tensor.dtype, fmt::join(tensor.shape, ", "),
                     tensor.path.empty() || tensor.path == tensor.name ? "" : "  // " + tensor.path);
}

// What an interface ends with.
std::string described(const std::string& module, const std::map<std::string, std::int64_t>& overrides) {
  std::string text;
  for (const auto& [name, value] : overrides) text += fmt::format(", {} = {}", name, value);
  text += ":\n//\n";
  for (const auto& each : base::split_lines(module)) text += each.empty() ? "//\n" : fmt::format("// {}\n", base::printable(each));
  return text;
}

}  // namespace

std::string task_name(const std::filesystem::path& path) {
  std::string name;
  for (const char c : path.stem().string()) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0) return name;
  const std::string folder = path.parent_path().filename().string();
  const std::string level = folder.starts_with("level") ? "L" + folder.substr(5) : "";
  return (level.empty() ? "P" : level + "_") + name;
}

std::string directives(const Interface& interface, const std::filesystem::path& path, const std::string& module,
                       const std::map<std::string, std::int64_t>& overrides) {
  std::string text = fmt::format("//@ task    {}\n", task_name(path));
  if (!interface.torch.empty()) text += fmt::format("//@ torch   {}\n", interface.torch);
  for (const auto& scalar : interface.scalars)
    text += fmt::format("//@ scalar  {}: {} = {}\n", scalar.name, scalar.dtype, scalar.value);
  for (const auto& tensor : interface.inputs) text += line("input", tensor);
  for (const auto& tensor : interface.state) text += line("input", tensor);
  for (const auto& tensor : interface.outputs) text += line("output", tensor);
  text += fmt::format("\n// The interface of {} (code {})", path.filename().string(), interface.digest);
  return text + described(module, overrides);
}

bool describes(const std::string& directives, const std::string& module, const std::map<std::string, std::int64_t>& overrides) {
  return directives == module || directives.ends_with(")" + described(module, overrides));
}

}  // namespace cudal1::pytorch
