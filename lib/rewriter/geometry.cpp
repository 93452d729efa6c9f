// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "rewriter/draft.hpp"
#include "rewriter/kernel_tree.hpp"

#include <algorithm>
#include <cctype>

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

}  // namespace cudal1::rewriter
