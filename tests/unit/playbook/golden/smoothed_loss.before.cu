//@ torch   L = F.cross_entropy(X, T, weight=W, label_smoothing=0.1)
//@ size    N = 32768, C = 1024
//@ check   N = 7, C = 10
//@ input   X: float32[N, C]
//@ input   T: int64[N] ~ randint(0, 10)
//@ input   W: float32[C] ~ uniform(0.5, 2)
//@ output  L: float32
//@ launch  reference<<<1, 1>>>(X, T, W, L)

__global__ void reference(const float* X, const long long* T, const float* W, float* L) {}
