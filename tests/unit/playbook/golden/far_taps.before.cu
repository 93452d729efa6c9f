//@ torch   Y = F.conv2d(X, weight, dilation=40)
//@ size    B = 4, C = 16, O = 64, H = 160, V = 160
//@ check   B = 2, C = 3, O = 5, H = 90, V = 85
//@ input   X: float32[B, C, H, V]
//@ input   weight: float32[O, C, 3, 3]
//@ output  Y: float32[B, O, H - 80, V - 80]
//@ launch  reference<<<1, 1>>>(X, weight, Y)

__global__ void reference(const float* X, const float* weight, float* Y) {}
