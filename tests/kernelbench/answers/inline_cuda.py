# SPDX-License-Identifier: Apache-2.0
"""Inline CUDA, as most published answers are."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
source = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
__global__ void swish(const float4* x, float4* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 v = x[i];
  v.x = v.x / (1 + expf(-v.x)); v.y = v.y / (1 + expf(-v.y)); v.z = v.z / (1 + expf(-v.z)); v.w = v.w / (1 + expf(-v.w));
  y[i] = v;
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int count = x.numel() / 4;
  swish<<<(count + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>((const float4*)x.data_ptr<float>(), (float4*)y.data_ptr<float>(), count);
  return y;
}
"""
module = load_inline(name="inline_cuda_answer", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source, functions=["run"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.run(x)
