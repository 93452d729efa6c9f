// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cudal1::algebra {

// Thrown where a torch line, or a part of it, has no kernels here; caught where a whole line is lowered or cut into kernels.
struct NotCovered {
  std::string reason;  // one sentence
};

}  // namespace cudal1::algebra
