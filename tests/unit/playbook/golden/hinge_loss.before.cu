//@ torch   Y = torch.mean(torch.clamp(1 - X * Z, min=0))
//@ size    N = 4096, M = 1024
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ input   Z: float32[M]
//@ output  Y: float32
//@ launch  reference<<<1, 1>>>(X, Z, Y)

__global__ void reference(const float* X, const float* Z, float* Y) {}
