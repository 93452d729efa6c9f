//@ torch   Y = F.gelu(X + bias) * alpha
//@ size    N = 512, M = 1024
//@ check   N = 33, M = 70
//@ scalar  alpha: float32 = 0.5
//@ input   X: float32[N, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(X, bias, Y)

__global__ void reference(const float* X, const float* bias, float* Y) {}
