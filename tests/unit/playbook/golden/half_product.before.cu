//@ torch   Y = F.relu(F.linear(X, W, B))
//@ size    N = 1024, M = 2048, K = 512
//@ check   N = 9, M = 7, K = 5
//@ input   X: float16[N, K]
//@ input   W: float16[M, K]
//@ input   B: float16[M]
//@ output  Y: float16[N, M]
//@ launch  reference<<<1, 1>>>(X, W, B, Y)

#include <cuda_fp16.h>

__global__ void reference(const __half* X, const __half* W, const __half* B, __half* Y) {}
