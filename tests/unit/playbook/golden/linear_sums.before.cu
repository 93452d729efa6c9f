//@ torch   Y = (A @ B).sum(dim=1)
//@ size    N = 512, K = 256, M = 1024
//@ check   N = 33, K = 21, M = 70
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  Y: float32[N]
//@ launch  reference<<<1, 1>>>(A, B, Y)

__global__ void reference(const float* A, const float* B, float* Y) {}
