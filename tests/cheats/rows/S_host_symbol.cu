// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   a symbol of the host
//! task  scale
//! all   COMPILE_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
extern "C" void clock_gettime_patched();
__global__ void k(const float* A, float* C, int count) { clock_gettime_patched(); }
