//@ task copy
//@ size N = 1024
//@ input  A: float32[N]
//@ output C: float32[N]
//@ launch copy<<<N / 32, 32>>>(A, C, N)
__global__ void copy(const float* A, float* C, int N) { C[blockIdx.x] = A[blockIdx.x]; }
