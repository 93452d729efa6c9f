// SPDX-License-Identifier: Apache-2.0
#include "sim/move.ipp"

namespace cudal1::sim {
void add_move_baseline(Operations& table) { move_rows(table); }
}  // namespace cudal1::sim
