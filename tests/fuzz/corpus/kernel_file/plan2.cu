//@ task scale
//@ size N = 1024, T = 4
//@ scalar alpha: float32 = 0.5
//@ scalar beta: float16 = 2
//@ scalar steps: int32 = T * 2
//@ scalar root: float64 = 1.0 / sqrt(N)
//@ input  A: float16[N]
//@ inout  C: float32[N]
//@ output I: int64[N]
//@ launch scale<<<N, 32>>>(A, C, I, alpha)
__global__ void scale(const __half* A, float* C, long long* I, float alpha) { C[0] = alpha; I[0] = 1; }
