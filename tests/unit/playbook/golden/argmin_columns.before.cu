//@ torch   Y = torch.argmin(X, dim=0)
//@ size    N = 1024, M = 4096
//@ check   N = 33, M = 70
//@ input   X: float32[N, M]
//@ output  Y: int64[M]
//@ launch  reference<<<1, 1>>>(X, Y)

__global__ void reference(const float* X, long long* Y) {}
