
__global__ void partial(const float* x, float* p, int n) { p[blockIdx.x] = x[0]; }
__global__ void total(const float* p, float* y, int n) { y[0] = p[0]; }
__global__ void halve(float* y) { y[0] *= 0.5f; }
void sum(const float* d_x, float* d_y) {
  int n = 4096;
  float* d_p;
  cudaMalloc(&d_p, 16 * sizeof(float));
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, sizeof(float));
  partial<<<16, 256>>>(d_x, d_p, n);
  total<<<1, 256>>>(d_p, d_y, 16);
  halve<<<1, 1>>>(d_y);
}
