//@ size K = 128
//@ input  X: bfloat16[K]
//@ output Y: bool[K]
//@ launch k<<<1, 128>>>(X, Y)
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* X, bool* Y) { Y[threadIdx.x] = __bfloat162float(X[threadIdx.x]) > 0; }
