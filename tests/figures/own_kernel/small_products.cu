//@ task    small_products
//@ torch   C = torch.bmm(A, B)
//@ size    N = 65536
//@ check   N = 37
//@ input   A: float32[N, 8, 8]
//@ input   B: float32[N, 8, 8]
//@ output  C: float32[N, 8, 8]
//@ launch  small_products<<<N, dim3(8, 8)>>>(A, B, C)
__global__ void small_products(const float* A, const float* B, float* C) {
  const float* a = A + blockIdx.x * 64LL;
  const float* b = B + blockIdx.x * 64LL;
  float s = 0;
  for (int k = 0; k < 8; ++k) s += a[threadIdx.y * 8 + k] * b[k * 8 + threadIdx.x];
  C[blockIdx.x * 64LL + threadIdx.y * 8 + threadIdx.x] = s;
}
