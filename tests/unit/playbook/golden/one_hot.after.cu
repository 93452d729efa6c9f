//@ of      one_hot.before.cu sha256:668a540c31bc7097cbbbd902a78ec68b9f070d80d7e3cd04fb91b0b198c6d6f9
//@ tune    ITEMS = 4 | 2 | 8
//@ launch  gather<<<ceil_div((N * M), 256 * ITEMS), 256>>>(W, I, bias, Y, N * M, M, K)
// playbook: one-hot/fused

__global__ void __launch_bounds__(256) gather(const float* __restrict__ W, const long long* __restrict__ I, const float* __restrict__ bias, float* __restrict__ Y, int n4, int M, int K) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int index = (int(blockIdx.x) * ITEMS + item) * 256 + threadIdx.x;
    if (index >= n4) return;
    const int row = index / M, column = index % M;
    const long long at = I[row], from = at < 0 ? at + K : at;
    const float produced = from >= 0 && from < K ? float(W[size_t(from) * M + column]) : float(0);
    const float v1 = float(bias[column]);
    const float v2 = produced + v1;
    const float v3 = v2 < 0 ? 0 : v2;
    Y[size_t(row) * M + column] = v3;
  }
}
