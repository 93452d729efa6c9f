// SPDX-License-Identifier: Apache-2.0
#include "rewriter/item_kernel.hpp"

#include <fmt/format.h>

namespace cudal1::rewriter {
namespace {

std::optional<OwnRewrite> coarser(const ItemKernel& kernel, OwnDraft& draft) {
  if (any_of(kernel.body, {Statement::Kind::loop})) return std::nullopt;
  const ItemKernel::Axis& x = kernel.axes[0];
  const std::string items = tune(draft, "ITEMS", "4 | 2 | 8"), item = unused_name(draft.code, "item");
  OwnRewrite result{kernel.head() + " {\n" + print(kernel.uniform, 2), kernel.launch};
  if (kernel.axes.size() == 2) result.function += kernel.coordinate(1);
  result.function += fmt::format(R"(#pragma unroll
  for (int {0} = 0; {0} < {1}; ++{0}) {{
    const {2} {3} = (static_cast<{2}>(blockIdx.x) * {1} + {0}) * blockDim.x + threadIdx.x;
    if ({4}) {{
{5}    }}
  }}
}})",
                                 item, items, kernel.plain_type(0), x.name, kernel.inside(), print(kernel.body, 6));
  result.launch.grid[0] = fmt::format("ceil_div({}, {} * {})", x.count, x.block, items);
  return result;
}

}  // namespace

// A thread takes several items, each a block's width from the next, so that their loads overlap.
bool own_coarsening(const task::Task& task, OwnDraft& draft) {
  return rewrite_kernels(task, draft, coarser,
                         {{Technique::thread_coarsening, "A thread takes several items a block's width apart: their loads overlap, and fewer blocks start."}});
}

}  // namespace cudal1::rewriter
