// SPDX-License-Identifier: Apache-2.0
// Rows by an array of pointers, which no task can pass; and a call that cudal1's runtime does not have.
__global__ void clear(float** rows, int n) {
  if (threadIdx.x < n) rows[blockIdx.x][threadIdx.x] = 0;
}

int main() {
  float *host[2], **rows;
  for (float*& row : host) cudaMalloc(&row, 128);
  cudaMalloc(&rows, sizeof host);
  cudaMemcpy(rows, host, sizeof host, cudaMemcpyHostToDevice);
  clear<<<2, 32>>>(rows, 32);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  return cudaDeviceSynchronize();
}
