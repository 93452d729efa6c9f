//@ torch   Y = (X + B[:, None]).sum()
//@ size    N = 64, C = 96, H = 500
//@ check   N = 2, C = 3, H = 5
//@ input   X: float32[N, C, H]
//@ input   B: float32[C]
//@ output  Y: float32
//@ launch  reference<<<1, 1>>>(X, B, Y)

__global__ void reference(const float* X, const float* B, float* Y) {}
