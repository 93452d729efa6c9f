//@ torch   Y = torch.sum(A * B) / torch.sqrt(torch.sum(A * A) * torch.sum(B * B))
//@ size    N = 4194304
//@ check   N = 20011
//@ input   A: float32[N]
//@ input   B: float32[N]
//@ output  Y: float32
//@ launch  reference<<<1, 1>>>(A, B, Y)

__global__ void reference(const float* A, const float* B, float* Y) {}
