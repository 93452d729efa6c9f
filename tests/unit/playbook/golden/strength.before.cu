//@ torch   Y = X / torch.sqrt(V) / 4.0
//@ size    N = 512, M = 1024
//@ check   N = 33, M = 18
//@ input   X: float32[N, M]
//@ input   V: float32[M] ~ uniform(0.5, 2)
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(X, Y)

__global__ void reference(const float* X, float* Y) {}
