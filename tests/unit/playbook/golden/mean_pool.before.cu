//@ torch   Y = F.avg_pool1d(X, 4, stride=2, padding=1, ceil_mode=True, count_include_pad=False)
//@ size    B = 8, C = 16, L = 4097, P = L / 2 + 1
//@ check   B = 2, C = 3, L = 12, P = 6
//@ input   X: float32[B, C, L]
//@ output  Y: float32[B, C, P]
//@ launch  reference<<<1, 1>>>(X, Y)

__global__ void reference(const float* X, float* Y) {}
