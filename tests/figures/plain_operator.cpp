// SPDX-License-Identifier: Apache-2.0
// What python_operator.py compares with: a plain C++ operator of torch.library that does what examples/softmax.cu does, one that does nothing, and
// what its parts take.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <chrono>

void plain_softmax(const float* x, float* y, int rows, int columns, cudaStream_t stream);

namespace {

at::Tensor softmax(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda() && x.scalar_type() == at::kFloat && x.dim() == 2 && x.is_contiguous());
  at::Tensor y = at::empty_like(x);
  plain_softmax(x.data_ptr<float>(), y.data_ptr<float>(), static_cast<int>(x.size(0)), static_cast<int>(x.size(1)), c10::cuda::getCurrentCUDAStream());
  return y;
}

at::Tensor nothing(const at::Tensor& x) { return x; }

// Microseconds a time, within C++: "allocate", "launch" or "stream".
double part(const at::Tensor& x, c10::string_view which, int64_t count) {
  at::Tensor y = at::empty_like(x);
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) {
    if (which == "allocate") at::empty_like(x);
    if (which == "launch")
      plain_softmax(x.data_ptr<float>(), y.data_ptr<float>(), static_cast<int>(x.size(0)), static_cast<int>(x.size(1)), c10::cuda::getCurrentCUDAStream());
    if (which == "stream") (void)c10::cuda::getCurrentCUDAStream();
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(count);
}

}  // namespace

TORCH_LIBRARY(cudal1_plain, m) {
  m.def("softmax(Tensor x) -> Tensor");
  m.def("nothing(Tensor(a) x) -> Tensor(a)");
  m.def("part(Tensor x, str which, int count) -> float");
}

TORCH_LIBRARY_IMPL(cudal1_plain, CUDA, m) {
  m.impl("softmax", softmax);
  m.impl("nothing", nothing);
  m.impl("part", part);
}
