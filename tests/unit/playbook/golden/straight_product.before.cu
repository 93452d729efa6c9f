//@ torch   Y = torch.relu(F.conv2d(X, weight, bias))
//@ size    B = 16, C = 64, O = 96, H = 56, V = 54
//@ check   B = 2, C = 3, O = 5, H = 9, V = 7
//@ input   X: float32[B, C, H, V]
//@ input   weight: float32[O, C, 1, 1]
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, H, V]
//@ launch  reference<<<1, 1>>>(X, weight, bias, Y)

__global__ void reference(const float* X, const float* weight, const float* bias, float* Y) {}
