//@ torch   Y = F.conv2d(X, W, B).sum(dim=1)
//@ size    N = 16, C = 32, O = 64, H = 66, V = 66
//@ check   N = 2, C = 3, O = 4, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ input   W: float32[O, C, 3, 3]
//@ input   B: float32[O]
//@ output  Y: float32[N, H - 2, V - 2]
//@ launch  reference<<<1, 1>>>(X, W, B, Y)

__global__ void reference(const float* X, const float* W, const float* B, float* Y) {}
