// SPDX-License-Identifier: Apache-2.0
// Causal attention of one head in three steps: scores, softmax of every row, weighted sum of the values.
//@ task    causal_attention
//@ torch   O = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
//@ size    T = 2048, H = 64
//@ check   T = 70, H = 24
//@ input   Q: float32[T, H]
//@ input   K: float32[T, H]
//@ input   V: float32[T, H]
//@ output  O: float32[T, H]
//@ scratch S: float32[T, T]
//@ launch  scores<<<dim3(ceil_div(T, 16), ceil_div(T, 16)), dim3(16, 16)>>>(Q, K, S, T, H)
//@ launch  softmax<<<T, 256>>>(S, T)
//@ launch  weighted_sum<<<dim3(ceil_div(H, 16), ceil_div(T, 16)), dim3(16, 16)>>>(S, V, O, T, H)

__global__ void scores(const float* Q, const float* K, float* S, int T, int H) {
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= T || column >= T) return;
  float sum = 0;
  for (int i = 0; i < H; ++i) sum += Q[row * H + i] * K[column * H + i];
  S[size_t(row) * T + column] = column <= row ? sum / sqrtf(H) : -1e30f;
}

__global__ void softmax(float* S, int T) {
  __shared__ float partial[256];
  float* s = S + size_t(blockIdx.x) * T;
  float largest = -1e30f;
  for (int i = threadIdx.x; i < T; i += 256) largest = fmaxf(largest, s[i]);
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < T; i += 256) sum += expf(s[i] - largest);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  sum = partial[0];
  for (int i = threadIdx.x; i < T; i += 256) s[i] = expf(s[i] - largest) / sum;
}

__global__ void weighted_sum(const float* S, const float* V, float* O, int T, int H) {
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= T || column >= H) return;
  float sum = 0;
  for (int i = 0; i <= row; ++i) sum += S[size_t(row) * T + i] * V[i * H + column];
  O[row * H + column] = sum;
}
