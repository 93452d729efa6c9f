//@ torch   Y = F.embedding(I, W)
//@ size    B = 64, T = 128, K = 1000, M = 256
//@ check   B = 2, T = 5, K = 10, M = 18
//@ input   I: int64[B, T] ~ randint(0, 10)
//@ input   W: float32[K, M]
//@ output  Y: float32[B, T, M]
//@ launch  reference<<<1, 1>>>(I, W, Y)

__global__ void reference(const long long* I, const float* W, float* Y) {}
