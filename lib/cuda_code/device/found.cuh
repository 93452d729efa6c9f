// SPDX-License-Identifier: Apache-2.0

// A value and where it stands; of equal values the first counts. take() is for the elements that one thread sees, in
// their order.
template <typename T, typename Index>
struct Found {
  T value;
  Index index;
};
struct FirstLarger {
  template <typename T, typename Index>
  __device__ Found<T, Index> operator()(Found<T, Index> a, Found<T, Index> b) const {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool equal = a.value == b.value || (nan_a && nan_b);
    const bool first = equal ? a.index < b.index : nan_a || (!nan_b && a.value > b.value);
    return first ? a : b;
  }
  template <typename T, typename Index>
  __device__ static void take(Found<T, Index>& best, T value, Index index) {
    if (value > best.value || (value != value && best.value == best.value)) best = {value, index};
  }
};
struct FirstSmaller {
  template <typename T, typename Index>
  __device__ Found<T, Index> operator()(Found<T, Index> a, Found<T, Index> b) const {
    const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
    const bool equal = a.value == b.value || (nan_a && nan_b);
    const bool first = equal ? a.index < b.index : nan_a || (!nan_b && a.value < b.value);
    return first ? a : b;
  }
  template <typename T, typename Index>
  __device__ static void take(Found<T, Index>& best, T value, Index index) {
    if (value < best.value || (value != value && best.value == best.value)) best = {value, index};
  }
};
template <typename T, typename Index>
__device__ Found<T, Index> exchange(Found<T, Index> found, int offset) {
  return {exchange(found.value, offset), exchange(found.index, offset)};
}
