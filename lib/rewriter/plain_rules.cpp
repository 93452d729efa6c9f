// SPDX-License-Identifier: Apache-2.0
#include "rewriter/draft.hpp"

#include "base/text.hpp"
#include "kernel/signature.hpp"
#include "rewriter/kernel_tree.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace cudal1::rewriter {

// Blocks of one plain size, `k<<<ceil_div(E, 256), 256>>>`, in a kernel that asks for blockDim: any size will do.
bool own_geometry(const task::Task&, OwnDraft& draft) {
  bool any = false;
  for (std::string& line : draft.plan) {
    auto launch = own_launch(line);
    if (!launch || launch->block.size() != 1 || launch->grid.size() != 1) continue;
    const std::string& block = launch->block[0];
    const std::string ending = ", " + block + ")";
    std::string& grid = launch->grid[0];
    if (block.empty() || !std::all_of(block.begin(), block.end(), [](unsigned char c) { return std::isdigit(c); }) ||
        grid.rfind("ceil_div(", 0) != 0 || grid.size() < ending.size() || grid.substr(grid.size() - ending.size()) != ending)
      continue;
    const auto tree = kernel_tree(draft.code, launch->name);
    if (!tree) continue;
    const std::string body = draft.code.substr(tree->open, tree->end - tree->open);
    if (!names(body, "blockDim") || names(body, block) || names(body, "__shared__")) continue;
    const std::string tunable = tune(draft, "BLOCK", any ? block : "128 | 64 | 256 | 512");
    grid = grid.substr(0, grid.size() - ending.size()) + ", " + tunable + ")";
    launch->block = {tunable};
    line = launch->text();
    any = true;
  }
  if (any) draft.technique(Technique::launch_configuration, "The block size is left to measurement.");
  return any;
}

// Pointers that the plan never gives the same buffer twice cannot alias: the compiler may keep and reorder loads.
bool own_read_only(const task::Task& task, OwnDraft& draft) {
  bool any = false;
  for (const kernel::Signature& signature : kernel::signatures(draft.code)) {
    bool distinct = true;
    for (const kernel::Step& step : task.file.plan) {
      const auto* launch = std::get_if<kernel::LaunchStep>(&step.step);
      if (launch == nullptr) return false;
      if (launch->kernel != signature.name) continue;
      std::set<std::string> buffers;
      for (std::size_t i = 0; i < launch->arguments.size() && i < signature.parameters.size(); ++i) {
        if (!signature.parameters[i].pointer) continue;
        const std::vector<std::string> names = launch->arguments[i].names();
        const auto meet = [&](const auto& each) {
          if (std::find(names.begin(), names.end(), each.name) != names.end()) distinct = buffers.insert(each.name).second && distinct;
        };
        std::for_each(task.file.buffers.begin(), task.file.buffers.end(), meet);
        std::for_each(task.file.scratches.begin(), task.file.scratches.end(), meet);
      }
    }
    const auto brackets = parameter_brackets(draft.code, signature.name);
    if (!distinct || signature.parameters.empty() || !brackets) continue;
    const auto [open, close] = *brackets;
    std::string list = draft.code.substr(open, close - open);
    if (list.find("__restrict__") != std::string::npos || list.find('(', 1) != std::string::npos) continue;
    std::string changed;
    for (char c : list) changed += c == '*' ? "* __restrict__" : std::string(1, c);
    if (changed == list) continue;
    for (std::size_t i = changed.find("__restrict__"); i != std::string::npos; i = changed.find("__restrict__", i + 12))
      if (i + 12 < changed.size() && changed[i + 12] != ' ') changed.insert(i + 12, " ");
    draft.code.replace(open, close - open, changed);
    any = true;
  }
  if (any)
    draft.technique(Technique::read_only_access,
                    "No two pointers of a launch meet, which `__restrict__` tells the compiler: it may load early and "
                    "through the read-only path.");
  return any;
}

// Innermost counted loops, several steps at a time, so that their loads overlap.
bool own_unrolling(const task::Task&, OwnDraft& draft) {
  constexpr int steps = 8;
  const std::vector<std::string> lines = base::split_lines(draft.code);
  std::string result;
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text(base::trim(lines[i]));
    const auto is_loop = [](std::string_view line) { return line.rfind("for (", 0) == 0; };
    bool innermost = is_loop(text);
    const std::size_t indent = lines[i].find_first_not_of(' ');
    for (std::size_t k = i + 1; innermost && k < lines.size(); ++k) {
      const std::size_t other = lines[k].find_first_not_of(' ');
      if (other != std::string::npos && other <= indent) break;
      if (is_loop(base::trim(lines[k]))) innermost = false;
    }
    const bool marked = i > 0 && base::trim(lines[i - 1]).rfind("#pragma", 0) == 0;
    // A directive cannot stand within a macro's definition.
    const bool macro = lines[i].ends_with('\\') || (i > 0 && lines[i - 1].ends_with('\\'));
    if (innermost && !marked && !macro && text.find("__syncthreads") == std::string::npos) {
      result += fmt::format("#pragma unroll {}\n", steps);
      any = true;
    }
    result += lines[i] + "\n";
  }
  if (any) {
    draft.code = result;
    draft.technique(Technique::unrolling, fmt::format("Innermost loops take {} steps at a time, so that their loads overlap.", steps));
  }
  return any;
}

}  // namespace cudal1::rewriter
