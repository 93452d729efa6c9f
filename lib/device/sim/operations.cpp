// SPDX-License-Identifier: Apache-2.0
#include "sim/operation.hpp"

#include "sim/families.hpp"
#include "sim/meant.hpp"

#include <cstdlib>

namespace cudal1::sim {

namespace {

bool has_avx2() {
#if defined(__x86_64__) && defined(CUDAL1_SIM_AVX2)
  // The variable lets tests run the baseline on any machine.
  if (std::getenv("CUDAL1_SIM_BASELINE")) return false;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

Operations build() {
  Operations table;
  table.reserve(8192);
  const bool fast = has_avx2();
#define CUDAL1_SIM_ADD(family) fast ? add_##family##_avx2(table) : add_##family##_baseline(table);
  CUDAL1_SIM_FAMILIES(CUDAL1_SIM_ADD)
#undef CUDAL1_SIM_ADD
  add_warp_operations(table);
  add_atomics(table);
  add_asynchronous_copies(table);
  add_bulk_copies(table);
  add_system_operations(table);
  add_cluster_operations(table);
  add_ordering(table);
  add_tensor_operations(table);
  add_meant_operations(table);
  return table;
}

}  // namespace

const Operations& operations() {
  static const Operations table = build();
  return table;
}

}  // namespace cudal1::sim
