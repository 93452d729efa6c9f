// SPDX-License-Identifier: Apache-2.0

constexpr bool EXACT = false;  // a factor is rounded to TF32
