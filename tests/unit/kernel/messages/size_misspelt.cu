//@ task    copy
//@ size    NUMBER = 1024
//@ input   A: float32[NUMBR]
//@ output  C: float32[NUMBER]
//@ launch  k<<<ceil_div(NUMBER, 256), 256>>>(A, C, NUMBER)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
