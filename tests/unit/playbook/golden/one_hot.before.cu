//@ torch   Y = F.relu(F.one_hot(I, num_classes=K).float() @ W + bias)
//@ size    N = 4096, K = 1000, M = 256
//@ check   N = 33, K = 10, M = 18
//@ input   I: int64[N] ~ randint(0, 10)
//@ input   W: float32[K, M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(I, W, bias, Y)

__global__ void reference(const long long* I, const float* W, const float* bias, float* Y) {}
