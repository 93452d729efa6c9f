// SPDX-License-Identifier: Apache-2.0
//! row   2
//! how   no kernel at all
//! task  scale
//! all   INVALID_PLAN COMPILE_FAILED
//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
float answer() { return 0; }
