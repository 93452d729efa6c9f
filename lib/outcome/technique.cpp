// SPDX-License-Identifier: Apache-2.0
#include "outcome/technique.hpp"

#include <cassert>

namespace cudal1::outcome {

std::string_view name(Technique technique) {
  switch (technique) {
    case Technique::algebra: return "algebra";
    case Technique::fusion: return "fusion";
    case Technique::coalesced_access: return "coalesced access";
    case Technique::vectorised_access: return "vectorised access";
    case Technique::shared_memory_tiling: return "shared-memory tiling";
    case Technique::register_tiling: return "register tiling";
    case Technique::warp_reduction: return "warp reduction";
    case Technique::tensor_cores: return "tensor cores";
    case Technique::asynchronous_copy: return "asynchronous copy";
    case Technique::launch_configuration: return "launch configuration";
    case Technique::register_caching: return "register caching";
    case Technique::thread_coarsening: return "thread coarsening";
    case Technique::unrolling: return "unrolling";
    case Technique::double_buffering: return "double buffering";
    case Technique::split_reduction: return "split reduction";
    case Technique::block_teams: return "block teams";
    case Technique::streaming_access: return "streaming access";
    case Technique::read_only_access: return "read-only access";
    case Technique::work_skipping: return "work skipping";
    case Technique::online_softmax: return "online softmax";
    case Technique::implicit_product: return "implicit product";
    case Technique::parallel_scan: return "parallel scan";
    case Technique::separate_kernels: return "separate kernels";
  }
  assert(false);
  return "";
}

}  // namespace cudal1::outcome
