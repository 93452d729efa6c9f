//@ task    copy
//@ size    COUNT = 64
//@ check   COUNTS = 33
//@ input   A: float32[COUNT]
//@ output  C: float32[COUNT]
//@ launch  k<<<1, 64>>>(A, C, COUNT)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
