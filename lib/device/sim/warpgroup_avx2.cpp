// SPDX-License-Identifier: Apache-2.0
#include "sim/warpgroup.ipp"

namespace cudal1::sim {
void add_warpgroup_avx2(Operations& table) { warpgroup_rows(table); }
}  // namespace cudal1::sim
