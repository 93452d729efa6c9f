//@ torch   Y = F.max_pool3d(X, 3, stride=2, padding=1)
//@ size    B = 4, D = 32, H = 64, W = 64, OD = (D - 1) / 2 + 1, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, D = 7, H = 9, W = 14
//@ input   X: float32[B, D, H, W]
//@ output  Y: float32[B, OD, OH, OW]
//@ launch  reference<<<1, 1>>>(X, Y)

__global__ void reference(const float* X, float* Y) {}
