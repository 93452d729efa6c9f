//@ torch   Y = torch.relu(X @ W.T + bias)
//@ size    N = 2048, K = 512, M = 2048
//@ check   N = 33, K = 21, M = 10
//@ input   X: float32[N, K]
//@ input   W: float32[M, K]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(X, W, bias, Y)

__global__ void reference(const float* X, const float* W, const float* bias, float* Y) {}
