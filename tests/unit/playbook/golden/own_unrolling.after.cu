//@ of      own_unrolling.before.cu sha256:9010319f8a64585c6ee2ec2c70f0b4fdeaaa1a1c3acd34889473497132884c38
//@ tune    BLOCK = 128 | 64 | 256 | 512
//@ launch  row_sum<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, N, M)
// playbook: own kernel/geometry, read-only, unrolling

__global__ void row_sum(const float* __restrict__ X, float* __restrict__ Y, int N, int M) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < M; ++i) sum += X[size_t(row) * M + i];
  Y[row] = sum;
}
