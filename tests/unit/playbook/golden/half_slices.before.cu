//@ torch   A = X[:, :M // 2]; B = X[:, M // 2:]; Y = torch.cat([-B, A], dim=1) * (M ** -0.5)
//@ size    N = 512, M = 4096
//@ check   N = 3, M = 8
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(X, Y)

__global__ void reference(const float* X, float* Y) {}
