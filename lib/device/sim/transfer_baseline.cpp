// SPDX-License-Identifier: Apache-2.0
#include "sim/transfer.ipp"

namespace cudal1::sim {
void add_transfer_baseline(Operations& table) { transfer_rows(table); }
}  // namespace cudal1::sim
