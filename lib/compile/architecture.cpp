// SPDX-License-Identifier: Apache-2.0
#include "compile/architecture.hpp"

#include <string_view>

namespace cudal1::compile {

// What a macro or an included file of the task's own spells otherwise is found by ptxas, which names the target that it needs.
std::string target_of(const Request& request) {
  if (request.arch != "sm_90") return request.arch;
  for (const std::string_view sign : {"wgmma", "setmaxnreg", "hopper.cuh", "__CUDA_ARCH_FEAT_SM90_ALL", "__CUDA_ARCH_SPECIFIC__"})
    if (request.source.find(sign) != std::string::npos) return "sm_90a";
  return request.arch;
}

}  // namespace cudal1::compile
