//@ size    N = 65536, M = 8192
//@ check   N = 333, M = 70
//@ input   points: float32[N]
//@ input   places: float32[M]
//@ input   charges: float32[M]
//@ output  P: float32[N]
//@ launch  potential<<<ceil_div(N, 128), 128>>>(points, places, charges, P, N, M)

__global__ void potential(const float* points, const float* places, const float* charges, float* P, int N, int M) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const float p = points[i];
  float sum = 0;
  for (int j = 0; j < M; ++j) {
    float d = p - places[j];
    sum += charges[j] * rsqrtf(d * d + 1.0f);
  }
  P[i] = sum;
}
