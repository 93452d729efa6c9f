// SPDX-License-Identifier: Apache-2.0
#include "sim/convert.ipp"

namespace cudal1::sim {
void add_convert_avx2(Operations& table) { convert_rows(table); }
}  // namespace cudal1::sim
