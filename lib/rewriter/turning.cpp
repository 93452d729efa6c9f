// SPDX-License-Identifier: Apache-2.0
#include "rewriter/item_kernel.hpp"

#include <fmt/format.h>

namespace cudal1::rewriter {
namespace {

using Kind = Statement::Kind;

// Loads and stores of one plane that run along different axes: one of both is not coalesced, whichever way threads lie.
std::optional<OwnRewrite> turned(const ItemKernel& kernel, OwnDraft& draft) {
  if (kernel.axes.size() != 2 || any_of(kernel.body, {Kind::loop})) return std::nullopt;
  // The axis along which results lie side by side.
  const ItemKernel::Axis *along = nullptr, *across = nullptr;
  for (const std::string& text : expressions(kernel.body)) {
    const auto store = assignment(text);
    if (!store) continue;
    for (const Access& access : accesses(store->target)) {
      if (access.begin != 0) continue;
      const ItemKernel::Axis* own = nullptr;
      for (const ItemKernel::Axis& axis : kernel.axes)
        if (kernel.where(access).steps_by_one(axis.name)) own = &axis;
      if (own == nullptr || (along != nullptr && along != own)) return std::nullopt;
      along = own;
    }
  }
  if (along == nullptr) return std::nullopt;
  across = along == &kernel.axes[0] ? &kernel.axes[1] : &kernel.axes[0];

  const std::set<std::string> certain = certain_accesses(kernel.body);
  const std::string line = unused_name(draft.code, "line");
  std::string tiles, loads;
  std::map<std::string, std::string> words;
  std::vector<std::string> keys;
  for (const std::string& text : expressions(kernel.body))
    for (const Access& access : accesses(text)) {
      const std::string key = access.key();
      if (kernel.written.count(kernel.pointer(access)) != 0 || words.count(key) != 0) continue;
      if (!kernel.where(access).steps_by_one(across->name) || !kernel.where(access).reads(along->name) || !kernel.movable(access) ||
          certain.count(key) == 0)
        continue;
      const std::string tile = unused_name(draft.code, fmt::format("{}_tile{}", access.pointer, words.empty() ? "" : fmt::format("_{}", words.size() + 1)));
      tiles += fmt::format("  __shared__ {} {}[32][33];\n", kernel.elements.at(access.pointer), tile);
      loads += fmt::format("      {}[threadIdx.x][{}] = {};\n", tile, line, key);
      words[key] = fmt::format("{}[{}][threadIdx.x]", tile, line);
      keys.push_back(key);
    }
  if (words.empty() || words.size() > 4) return std::nullopt;
  const auto at = [&](const ItemKernel::Axis& axis, const std::string& offset) {
    const std::string type = kernel.plain_type(static_cast<std::size_t>(&axis - kernel.axes.data()));
    return fmt::format("    const {0} {1} = static_cast<{0}>(blockIdx.{2}) * 32 + {3};\n", type, axis.name, axis.letter, offset);
  };
  const auto lines = [&](const std::string& of_along, const std::string& of_across, const std::string& what) {
    return fmt::format("#pragma unroll\n  for (int {0} = threadIdx.y; {0} < 32; {0} += 8) {{\n{1}{2}    if ({3}) {{\n{4}    }}\n  }}\n", line,
                       at(*along, of_along), at(*across, of_across), kernel.inside(), what);
  };
  OwnRewrite result{kernel.head() + " {\n" + tiles + print(kernel.uniform, 2), kernel.launch};
  // A tile holds what is at (along, across) in its column `across`: it is read the other way round than it was filled.
  result.function += lines(line, "threadIdx.x", print(kernel.needed(keys), 6) + loads) + "  __syncthreads();\n";
  result.function += lines("threadIdx.x", line, print(with_accesses(kernel.body, words), 6)) + "}";
  for (const ItemKernel::Axis& axis : kernel.axes)
    result.launch.grid[static_cast<std::size_t>(axis.letter - 'x')] = fmt::format("ceil_div({}, 32)", axis.count);
  result.launch.block = {"32", "8"};
  return result;
}

}  // namespace

bool own_turning(const task::Task& task, OwnDraft& draft) {
  return rewrite_kernels(task, draft, turned,
                         {{Technique::coalesced_access, "Neighbouring threads read neighbours and write neighbours."},
                          {Technique::shared_memory_tiling, "What lies the other way round than the results is turned in tiles of 32 by 32 in shared memory."}});
}

}  // namespace cudal1::rewriter
