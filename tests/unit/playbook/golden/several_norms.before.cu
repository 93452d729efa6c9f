//@ torch   A = torch.norm(X, dim=1); B = torch.sum(torch.abs(X), dim=1); C = torch.mean(X, dim=0)
//@ size    N = 1024, M = 2048
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  A: float32[N]
//@ output  B: float32[N]
//@ output  C: float32[M]
//@ launch  reference<<<1, 1>>>(X, A, B)

__global__ void reference(const float* X, float* A, float* B) {}
