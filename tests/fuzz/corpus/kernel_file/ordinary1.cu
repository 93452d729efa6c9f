
__global__ void transpose(float* out, const float* in, unsigned int width, unsigned int height) { out[0] = in[0]; }
void run(float* h) {
  unsigned int W = 1000, H = 500;
  float *d_in, *d_out;
  cudaMalloc(&d_in, W * H * sizeof(float));
  cudaMalloc(&d_out, W * H * sizeof(float));
  dim3 block(32, 8, 1), grid;
  grid.x = (unsigned)ceil((float)W / block_x());
  dim3 tiles((W + 31) / 32, (int)ceilf(H / 8.0f * 1.0f));
  dim3 good((W - 1) / 32 + 1, ceil((double)H / 8));
  transpose<<<good, block, 32 * 33 * sizeof(float)>>>(d_out, d_in, W, H);
}
