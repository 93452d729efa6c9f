// SPDX-License-Identifier: Apache-2.0
// Stand-in for a header that NVRTC does not have. NVRTC declares what device code needs of it.
#pragma once

// A tensor map as a kernel's parameter: const __grid_constant__ CUtensorMap. Its contents are the driver's.
typedef struct alignas(64) CUtensorMap_st {
  unsigned long long opaque[16];
} CUtensorMap;
