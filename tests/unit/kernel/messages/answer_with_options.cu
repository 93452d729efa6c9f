//@ of copy.cu sha256:00
//@ option --use_fast_math
//@ include "/usr/include"
//@ launch  k<<<4, 256>>>(A, C, N)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
