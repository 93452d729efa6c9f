//@ torch   Y = A @ B @ V
//@ size    N = 1024, M = 2048, K = 512
//@ check   N = 9, M = 7, K = 5
//@ input   A: float32[N, M]
//@ input   B: float32[M, K]
//@ input   V: float32[K]
//@ output  Y: float32[N]
//@ launch  reference<<<1, 1>>>(A, B, V, Y)

__global__ void reference(const float* A, const float* B, const float* V, float* Y) {}
