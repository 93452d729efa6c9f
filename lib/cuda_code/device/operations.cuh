// SPDX-License-Identifier: Apache-2.0

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};
// Of a NaN and a number the NaN wins, as in torch.
struct Larger {
  template <typename T> __device__ T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  template <typename T> __device__ T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};
