//@ task    copy
//@ size    N = 1024
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ tune    BLOCK = 128 256
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
