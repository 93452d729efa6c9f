//@ of copy.cu sha256:00
//@ output  C: float32[N, N]
//@ launch  k<<<4, 256>>>(A, C, N)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
