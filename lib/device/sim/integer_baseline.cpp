// SPDX-License-Identifier: Apache-2.0
#include "sim/integer.ipp"

namespace cudal1::sim {
void add_integer_baseline(Operations& table) { integer_rows(table); }
}  // namespace cudal1::sim
