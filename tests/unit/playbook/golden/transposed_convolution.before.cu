//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1, groups=2)
//@ size    B = 8, C = 32, O = 32, H = 64, V = 63
//@ check   B = 2, C = 4, O = 5, H = 9, V = 7
//@ input   X: float32[B, C, H, V]
//@ input   weight: float32[C, O, 3, 3]
//@ output  Y: float32[B, 2 * O, 2 * H - 1, 2 * V - 1]
//@ launch  reference<<<1, 1>>>(X, weight, Y)

__global__ void reference(const float* X, const float* weight, float* Y) {}
