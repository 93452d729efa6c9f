// SPDX-License-Identifier: Apache-2.0
// Device memory in a structure that is passed by value, as views of matrices are.
#include <cstdio>

struct View {
  int rows, columns;
  float* data;
  const int* order;
};

__global__ void double_rows(View view, float by) {
  const int column = threadIdx.x;
  if (column < view.columns) view.data[view.order[blockIdx.x] * view.columns + column] *= by;
}

int main() {
  float host[6 * 20];
  int order[4] = {3, 1, 0, 5};
  for (int i = 0; i < 120; ++i) host[i] = static_cast<float>(i) / 7;
  View view{6, 20, nullptr, nullptr};
  int* places = nullptr;
  cudaMalloc(&view.data, sizeof host);
  cudaMalloc(&places, sizeof order);
  cudaMemcpy(view.data, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(places, order, sizeof order, cudaMemcpyHostToDevice);
  view.order = places;
  double_rows<<<4, 32>>>(view, 2.0f);
  cudaMemcpy(host, view.data, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[119] * 7);
}
