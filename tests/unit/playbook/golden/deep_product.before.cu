//@ torch   Y = torch.relu(X.T @ W + bias)
//@ size    N = 64, K = 8192, M = 96
//@ check   N = 33, K = 1030, M = 10
//@ check   N = 36, K = 520, M = 20
//@ input   X: float32[K, N]
//@ input   W: float32[K, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(X, W, bias, Y)

__global__ void reference(const float* X, const float* W, const float* bias, float* Y) {}
