//@ of      embedding.before.cu sha256:8fca8c9265e3000d6f5476f2f18b3fdc9c5c645eed8627df540198dd08bba90c
//@ tune    ITEMS = 4 | 2 | 8
//@ launch  gather<<<ceil_div(((B * T) * M), 256 * ITEMS), 256>>>(W, I, Y, (B * T) * M, M, K)
// playbook: as written/fused

__global__ void __launch_bounds__(256) gather(const float* __restrict__ W, const long long* __restrict__ I, float* __restrict__ Y, int n3, int M, int K) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int index = (int(blockIdx.x) * ITEMS + item) * 256 + threadIdx.x;
    if (index >= n3) return;
    const int row = index / M, column = index % M;
    const long long at = I[row], from = at < 0 ? at + K : at;
    const float produced = from >= 0 && from < K ? float(W[size_t(from) * M + column]) : float(0);
    Y[size_t(row) * M + column] = produced;
  }
}
