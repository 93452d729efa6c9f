// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudal1::outcome {

// The moves that matter on a GPU. The search suggests them and takes them out again, and the built-in model labels its
// kernels with them: both by these names. A language model's labels are its own.
enum class Technique {
  algebra,
  fusion,
  coalesced_access,
  vectorised_access,
  shared_memory_tiling,
  register_tiling,
  warp_reduction,
  tensor_cores,
  asynchronous_copy,
  launch_configuration,
  register_caching,
  thread_coarsening,
  unrolling,
  double_buffering,
  split_reduction,
  block_teams,
  streaming_access,
  read_only_access,
  work_skipping,
  online_softmax,
  implicit_product,
  parallel_scan,
  separate_kernels,
};

// "shared-memory tiling": lower case, and without the commas and semicolons that part the labels of an answer.
std::string_view name(Technique technique);

}  // namespace cudal1::outcome
