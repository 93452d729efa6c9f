// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/operation.hpp"

namespace cudal1::sim {

// Each family adds its rows. Those of the first list are compiled twice, see lib/CMakeLists.txt.
#define CUDAL1_SIM_FAMILIES(X) X(integer) X(move) X(floating) X(convert) X(half) X(transfer) X(warpgroup)
#define CUDAL1_SIM_DECLARE(family)                \
  void add_##family##_avx2(Operations& table);    \
  void add_##family##_baseline(Operations& table);
CUDAL1_SIM_FAMILIES(CUDAL1_SIM_DECLARE)
#undef CUDAL1_SIM_DECLARE

void add_warp_operations(Operations& table);
void add_atomics(Operations& table);
void add_asynchronous_copies(Operations& table);
void add_system_operations(Operations& table);
void add_bulk_copies(Operations& table);
void add_cluster_operations(Operations& table);
void add_ordering(Operations& table);
void add_tensor_operations(Operations& table);

}  // namespace cudal1::sim
