//@ torch   Y = torch.relu(F.conv2d(X, weight, bias, stride=(2, 1), padding=1, groups=16))
//@ size    B = 8, C = 16, H = 256, L = 255
//@ check   B = 2, C = 16, H = 9, L = 13
//@ input   X: float32[B, C, H, L]
//@ input   weight: float32[C, 1, 3, 3]
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, (H - 1) / 2 + 1, L]
//@ launch  reference<<<1, 1>>>(X, weight, bias, Y)

__global__ void reference(const float* X, const float* weight, const float* bias, float* Y) {}
