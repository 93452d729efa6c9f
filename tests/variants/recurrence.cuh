// SPDX-License-Identifier: Apache-2.0
// What the reference kernels of the recurrent lines share.
__device__ float gate(float value) { return 1 / (1 + expf(-value)); }

// What the last hidden state of a sequence gives to a row.
__device__ float recurrent(const float* W, const float* v, const float* last, int row, int H) {
  float sum = v[row];
  for (int k = 0; k < H; ++k) sum += W[row * H + k] * last[k];
  return sum;
}
