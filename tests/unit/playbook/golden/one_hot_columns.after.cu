//@ of      one_hot_columns.before.cu sha256:8dd089178b947a643a6ae407ddee488e94e301b73f9fd63272475fca10f3ee9b
//@ tune    ITEMS = 4 | 2 | 8
//@ launch  gather<<<ceil_div((N * M), 256 * ITEMS), 256>>>(A, I, Y, N * M, M, K)
// playbook: one-hot/fused

__global__ void __launch_bounds__(256) gather(const float* __restrict__ A, const long long* __restrict__ I, float* __restrict__ Y, int n3, int M, int K) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int index = (int(blockIdx.x) * ITEMS + item) * 256 + threadIdx.x;
    if (index >= n3) return;
    const int row = index / M, column = index % M;
    const long long at = I[column], from = at < 0 ? at + K : at;
    const float produced = from >= 0 && from < K ? float(A[size_t(row) * K + from]) : float(0);
    Y[size_t(row) * M + column] = produced;
  }
}
