//@ task    copy
//@ size    N = 1024
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ tune    A0 = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
//@ tune    A1 = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
//@ tune    A2 = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
//@ tune    A3 = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
//@ launch  k<<<ceil_div(N, 256), 256>>>(A, C, N)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
