//@ task sums
//@ size N = 1024, M = 64, Q = N / 2
//@ input  A: float32[N, M]
//@ output C: float32[N]
//@ launch sums<<<N, 32>>>(A, C, M)
__global__ void sums(const float* A, float* C, int M) { if (threadIdx.x == 0) { float s = 0; for (int i = 0; i < M; ++i) s += A[blockIdx.x * M + i]; C[blockIdx.x] = s; } }
