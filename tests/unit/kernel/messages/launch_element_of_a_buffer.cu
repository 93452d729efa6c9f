//@ task    copy
//@ size    N = 1024
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ launch  k<<<4, 256>>>(A, C[4], N)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
