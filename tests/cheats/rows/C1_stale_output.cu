// SPDX-License-Identifier: Apache-2.0
//! row   C1
//! how   does nothing: the buffer may still hold an earlier, right result
//! task  row_sum
//! all   WRONG_RESULT
//! gpu   right without fresh_values check_poison finite_fill timed_poison timed_outputs task_gate write_floor
//@ launch  k<<<1, 32>>>(A, C)
__global__ void k(const float* A, float* C) {}
