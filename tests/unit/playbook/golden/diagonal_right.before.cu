//@ torch   C = B @ torch.diag(A)
//@ size    N = 512, M = 1024
//@ check   N = 33, M = 70
//@ input   A: float32[M]
//@ input   B: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  reference<<<1, 1>>>(A, B, C)

__global__ void reference(const float* A, const float* B, float* C) {}
