//@ torch   Y = torch.relu(F.conv_transpose2d(X, weight, bias, stride=2, padding=1))
//@ size    B = 8, C = 32, O = 48, H = 65, V = 63
//@ check   B = 2, C = 3, O = 5, H = 9, V = 7
//@ input   X: float32[B, C, H, V]
//@ input   weight: float32[C, O, 3, 3]
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, 2 * H - 1, 2 * V - 1]
//@ launch  reference<<<1, 1>>>(X, weight, bias, Y)

__global__ void reference(const float* X, const float* weight, const float* bias, float* Y) {}
