// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, each by one block for a sequence and by a cluster of eight, whose shared memory holds the weights of all but the GRU.
// Of the smaller check some blocks have no unit, of the other the last has fewer.

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

//@ task    gru_backwards
//@ torch   Y = torch.recurrence(G, W, h, None, v, 'gru', reverse=True)
//@ size    T = 5, B = 3, H = 512
//@ check   T = 4, B = 3, H = 69
//@ check   T = 3, B = 2, H = 9
//@ input   G: float32[T, B, 3 * H]
//@ input   W: float32[3 * H, H] ~ uniform(-0.2, 0.2)
//@ input   h: float32[B, H]
//@ input   v: float32[3 * H]
//@ output  Y: float32[T, B, H]
//@ launch  gru<<<B, H>>>(G, W, h, v, Y, T, B, H)
__global__ void gru(const float* G, const float* W, const float* h, const float* v, float* Y, int T, int B, int H) {
  const int sequence = blockIdx.x, unit = threadIdx.x;
  const float* last = h + sequence * H;
  for (int t = T - 1; t >= 0; --t) {
    const float* given = G + (t * B + sequence) * 3 * H;
    const float reset = gate(given[unit] + recurrent(W, v, last, unit, H)), update = gate(given[H + unit] + recurrent(W, v, last, H + unit, H));
    const float fresh = tanhf(given[2 * H + unit] + reset * recurrent(W, v, last, 2 * H + unit, H));
    float* states = Y + (t * B + sequence) * H;
    states[unit] = fresh + update * (last[unit] - fresh);
    last = states;
    __syncthreads();
  }
}

//@ task    rnn
//@ torch   Y = F.relu(torch.recurrence(G, W, h, bias=v, kind='tanh') + S)
//@ size    T = 5, B = 3, H = 65
//@ check   T = 4, B = 3, H = 69
//@ check   T = 3, B = 2, H = 9
//@ input   G: float32[T, B, H]
//@ input   W: float32[H, H] ~ uniform(-0.2, 0.2)
//@ input   h: float32[B, H]
//@ input   v: float32[H]
//@ input   S: float32[T, B, H]
//@ output  Y: float32[T, B, H]
//@ launch  rnn<<<B, H, 2 * H * 4>>>(G, W, h, v, S, Y, T, B, H)
__global__ void rnn(const float* G, const float* W, const float* h, const float* v, const float* S, float* Y, int T, int B, int H) {
  extern __shared__ float states[];
  const int sequence = blockIdx.x, unit = threadIdx.x;
  states[unit] = h[sequence * H + unit];
  __syncthreads();
  for (int t = 0; t < T; ++t) {
    const int at = (t * B + sequence) * H + unit;
    const float state = tanhf(G[at] + recurrent(W, v, states + t % 2 * H, unit, H));
    states[(t + 1) % 2 * H + unit] = state;
    Y[at] = fmaxf(state + S[at], 0.0f);
    __syncthreads();
  }
}
