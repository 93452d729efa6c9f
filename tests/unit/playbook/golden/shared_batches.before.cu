//@ torch   Y = torch.matmul(A, B)
//@ size    Q = 4, H = 8, N = 128, M = 160, K = 64
//@ check   Q = 2, H = 3, N = 9, M = 7, K = 5
//@ input   A: float32[Q, H, N, K]
//@ input   B: float32[H, K, M]
//@ output  Y: float32[Q, H, N, M]
//@ launch  reference<<<1, 1>>>(A, B, Y)

__global__ void reference(const float* A, const float* B, float* Y) {}
