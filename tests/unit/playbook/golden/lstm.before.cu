// SPDX-License-Identifier: Apache-2.0
//@ task    lstm
//@ torch   Y = torch.recurrence(G, W, h, c, v, 'lstm')
//@ size    T = 5, B = 3, H = 96
//@ check   T = 4, B = 3, H = 69
//@ check   T = 3, B = 2, H = 9
//@ input   G: float32[T, B, 4 * H]
//@ input   W: float32[4 * H, H] ~ uniform(-0.2, 0.2)
//@ input   h: float32[B, H]
//@ input   c: float32[B, H]
//@ input   v: float32[4 * H]
//@ output  Y: float32[T, B, 2 * H]
//@ launch  lstm<<<B, H>>>(G, W, h, c, v, Y, T, B, H)
__device__ float gate(float value) { return 1 / (1 + expf(-value)); }

// What the last hidden state of a sequence gives to a row.
__device__ float recurrent(const float* W, const float* v, const float* last, int row, int H) {
  float sum = v[row];
  for (int k = 0; k < H; ++k) sum += W[row * H + k] * last[k];
  return sum;
}

__global__ void lstm(const float* G, const float* W, const float* h, const float* c, const float* v, float* Y, int T, int B, int H) {
  const int sequence = blockIdx.x, unit = threadIdx.x;
  float cell = c[sequence * H + unit];
  const float* last = h + sequence * H;
  for (int t = 0; t < T; ++t) {
    const float* given = G + (t * B + sequence) * 4 * H;
    float gates[4];
    for (int i = 0; i < 4; ++i) gates[i] = given[i * H + unit] + recurrent(W, v, last, i * H + unit, H);
    cell = gate(gates[1]) * cell + gate(gates[0]) * tanhf(gates[2]);
    float* states = Y + (t * B + sequence) * 2 * H;
    states[unit] = gate(gates[3]) * tanhf(cell);
    states[H + unit] = cell;
    last = states;
    __syncthreads();
  }
}
