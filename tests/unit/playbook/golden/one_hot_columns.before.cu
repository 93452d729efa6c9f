//@ torch   Y = A @ F.one_hot(I, num_classes=K).float().T
//@ size    N = 4096, K = 1000, M = 256
//@ check   N = 33, K = 10, M = 18
//@ input   A: float32[N, K]
//@ input   I: int64[M] ~ randint(0, 10)
//@ output  Y: float32[N, M]
//@ launch  reference<<<1, 1>>>(A, I, Y)

__global__ void reference(const float* A, const long long* I, float* Y) {}
