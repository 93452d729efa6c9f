// SPDX-License-Identifier: Apache-2.0
//! row   X7
//! how   a template of depth 100,000
//! task  scale
//! all   COMPILE_FAILED
//@ launch  k<<<1, 32>>>(A, C)
template <int depth> struct Deep { static constexpr long long value = Deep<depth - 1>::value + Deep<depth - 2>::value; };
template <> struct Deep<0> { static constexpr long long value = 1; };
template <> struct Deep<1> { static constexpr long long value = 1; };
__global__ void k(const float* A, float* C) { C[0] = Deep<100000>::value; }
