//@ torch   Y = (A @ B) @ C
//@ size    N = 1024, K = 512, M = 64
//@ check   N = 33, K = 21, M = 10
//@ input   A: float32[N, K]
//@ input   B: float32[K, N]
//@ input   C: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(A, B, C, Y)

__global__ void reference(const float* A, const float* B, const float* C, float* Y) {}
