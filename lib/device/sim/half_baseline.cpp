// SPDX-License-Identifier: Apache-2.0
#include "sim/half.ipp"

namespace cudal1::sim {
void add_half_baseline(Operations& table) { half_rows(table); }
}  // namespace cudal1::sim
