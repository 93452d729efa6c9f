//@ task    stencil
//@ torch   y = x[1:-1, 1:-1] * 0.5 + 0.125 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
//@ size    H = 4096, W = 4096
//@ check   H = 35, W = 71
//@ input   x: float32[H, W]
//@ output  y: float32[H - 2, W - 2]
//@ launch  stencil<<<dim3(ceil_div(W - 2, 32), ceil_div(H - 2, 8)), dim3(32, 8)>>>(x, y, H, W)
__global__ void stencil(const float* x, float* y, int H, int W) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= H - 2 || j >= W - 2) return;
  const float* c = x + (i + 1) * W + j + 1;
  y[i * (W - 2) + j] = c[0] * 0.5f + 0.125f * (c[-W] + c[W] + c[-1] + c[1]);
}
