// SPDX-License-Identifier: Apache-2.0
//@ launch swish<<<132 * 16, 512>>>(x, output)
__global__ void swish(const float* __restrict__ x, float* __restrict__ output) {
  const size_t count = COUNT / 4;
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(output);
  for (size_t i = size_t(blockIdx.x) * 512 + threadIdx.x; i < count; i += size_t(gridDim.x) * 512) {
    float4 v = from[i];
    v.x = v.x / (1 + expf(-v.x)); v.y = v.y / (1 + expf(-v.y)); v.z = v.z / (1 + expf(-v.z)); v.w = v.w / (1 + expf(-v.w));
    to[i] = v;
  }
}
