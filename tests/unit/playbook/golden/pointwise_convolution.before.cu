//@ torch   Y = torch.relu(F.conv2d(X, weight, bias))
//@ size    B = 8, C = 32, O = 48, H = 40, V = 64
//@ check   B = 2, C = 3, O = 9, H = 9, V = 7
//@ input   X: float32[B, C, H, V]
//@ input   weight: float32[O, C, 1, 1]
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, H, V]
//@ launch  reference<<<1, 1>>>(X, weight, bias, Y)

__global__ void reference(const float* X, const float* weight, const float* bias, float* Y) {}
