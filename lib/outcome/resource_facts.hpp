// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace cudal1::outcome {

// What the compiler says a kernel takes; known without a GPU.
struct ResourceFacts {
  std::string kernel;             // name expression as launched: "k<float, 128>"
  int registers = 0;              // per thread
  std::size_t shared_bytes = 0;   // static, per block
  std::size_t local_bytes = 0;    // stack frame per thread
  std::size_t spill_store_bytes = 0, spill_load_bytes = 0;
  std::size_t constant_bytes = 0;
  int max_threads_per_block = 0;  // 0: unknown
  std::string serialized_wgmma;   // why ptxas makes its wgmma wait for each other; empty: it does not
  bool operator==(const ResourceFacts&) const = default;
};

}  // namespace cudal1::outcome
