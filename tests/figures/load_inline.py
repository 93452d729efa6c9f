# SPDX-License-Identifier: Apache-2.0
"""How long PyTorch takes from the same kernel's source to something callable: what cudal1's latency is compared with.
   load_inline.py
"""
import time

import torch
from torch.utils.cpp_extension import load_inline

KERNEL = """
#include <torch/extension.h>
__global__ void scale(const float* A, const float* B, float* C, int N, int M) {
  int column = blockIdx.x * 256 + threadIdx.x;
  if (column < M) C[size_t(blockIdx.y) * M + column] = A[blockIdx.y] * B[size_t(blockIdx.y) * M + column];
}
torch::Tensor diag_matmul(torch::Tensor A, torch::Tensor B) {
  auto C = torch::empty_like(B);
  scale<<<dim3((B.size(1) + 255) / 256, B.size(0)), 256>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(),
                                                          B.size(0), B.size(1));
  return C;
}
"""

begin = time.time()
module = load_inline("diag_matmul", "torch::Tensor diag_matmul(torch::Tensor A, torch::Tensor B);", KERNEL,
                     functions=["diag_matmul"])
built = time.time()
a, b = torch.randn(4096, device="cuda"), torch.randn(4096, 4096, device="cuda")
right = torch.equal(module.diag_matmul(a, b), a[:, None] * b)
print(f"torch {torch.__version__}: load_inline {built - begin:.1f} s, first result {time.time() - built:.2f} s later, right: {right}")
