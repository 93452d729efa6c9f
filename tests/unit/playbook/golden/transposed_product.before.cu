//@ torch   Y = (A @ B).T
//@ size    N = 256, K = 512, M = 128
//@ check   N = 33, K = 21, M = 10
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  Y: float32[M, N]
//@ launch  reference<<<1, 1>>>(A, B, Y)

__global__ void reference(const float* A, const float* B, float* Y) {}
