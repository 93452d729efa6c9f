// SPDX-License-Identifier: Apache-2.0
//! row   T5
//! how   a kernel that does nothing, with nobody to look at its output
//! task  large_relu
//! all   WRONG_RESULT
//! gpu   IMPLAUSIBLE without comparison
//! gpu   FASTER without comparison write_floor
//@ launch  k<<<1, 32>>>(A, C)
__global__ void k(const float* A, float* C) {}
