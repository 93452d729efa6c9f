// SPDX-License-Identifier: Apache-2.0

constexpr bool EXACT = true;  // a factor is the sum of two halves of TF32 precision
