//@ of copy.cu
//@ launch  k<<<1, 1>>>(A, C, N)

__global__ void k(const float* A, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i];
}
