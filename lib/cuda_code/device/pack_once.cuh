// SPDX-License-Identifier: Apache-2.0
//$ needs pack.cuh

// The same for data that is touched once: first to leave the caches.
template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ Pack<T, VEC> load_once(const T* from, Index left) {
  if constexpr (WHOLE && sizeof(Pack<T, VEC>) == 16) {
    Pack<T, VEC> pack = {};
    if (left > 0) {
      const float4 raw = __ldcs(reinterpret_cast<const float4*>(from));
      pack = reinterpret_cast<const Pack<T, VEC>&>(raw);
    }
    return pack;
  } else {
    return load<WHOLE, VEC>(from, left);
  }
}

template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ void store_once(T* to, const Pack<T, VEC>& pack, Index left) {
  if constexpr (WHOLE && sizeof(Pack<T, VEC>) == 16) {
    if (left > 0) __stcs(reinterpret_cast<float4*>(to), reinterpret_cast<const float4&>(pack));
  } else {
    store<WHOLE, VEC>(to, pack, left);
  }
}
