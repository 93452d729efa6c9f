// SPDX-License-Identifier: Apache-2.0
#include "sim/families.hpp"

namespace cudal1::sim {

void add_tensor_operations(Operations&) {}

}  // namespace cudal1::sim
