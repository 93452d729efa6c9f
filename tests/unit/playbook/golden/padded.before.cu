//@ torch   Y = F.pad(X, (1, 2), mode='reflect') + F.pad(X, (0, 3), value=0.5)
//@ size    N = 512, M = 4096
//@ check   N = 3, M = 7
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M + 3]
//@ launch  reference<<<1, 1>>>(X, Y)

__global__ void reference(const float* X, float* Y) {}
