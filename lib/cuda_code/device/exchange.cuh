// SPDX-License-Identifier: Apache-2.0

template <typename T>
__device__ __forceinline__ T exchange(T value, int offset) {
  return __shfl_xor_sync(0xffffffffu, value, offset);
}
