//@ of      own_vectors.before.cu sha256:460d3a608f365629c91bc58ac16bc9c525032c401256ed9ba2fb45f66f3b6429
//@ tune    BLOCK = 256 | 128 | 512
//@ launch  gelu<<<ceil_div(N * M, 4 * BLOCK), BLOCK>>>(X, bias, Y, N * M, M)
// playbook: own kernel/vectors, read-only

__global__ void gelu(const float* __restrict__ X, const float* __restrict__ bias, float* __restrict__ Y, int count, int M) {
  const int i_0 = (static_cast<int>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i_0 >= count) return;
  __align__(16) float X_held[4];
  __align__(16) float Y_held[4];
  bool whole;
  {
    const int i = i_0;
    whole = i_0 + 4 <= count;
    if (whole) {
      *reinterpret_cast<float4*>(X_held) = *reinterpret_cast<const float4*>(&X[i]);
    }
  }
  if (!whole) {
    for (int item = 0; item < 4 && i_0 + item < count; ++item) {
      const int i = i_0 + item;
      float x = X[i] + bias[i % M];
      Y[i] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
    }
    return;
  }
#pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int i = i_0 + item;
    float x = X_held[item] + bias[i % M];
    Y_held[item] = 0.5f * x * (1.0f + erff(x * 0.70710678f));
  }
  {
    const int i = i_0;
    *reinterpret_cast<float4*>(&Y[i]) = *reinterpret_cast<const float4*>(Y_held);
  }
}
