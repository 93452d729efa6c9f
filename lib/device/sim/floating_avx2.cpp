// SPDX-License-Identifier: Apache-2.0
#include "sim/floating.ipp"

namespace cudal1::sim {
void add_floating_avx2(Operations& table) { floating_rows(table); }
}  // namespace cudal1::sim
