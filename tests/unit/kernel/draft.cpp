// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "kernel/output.hpp"
#include "kernel/workload.hpp"

#include <algorithm>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

File whole(const Draft& drafted) {
  const auto file = parse(drafted.text, "drafted.cu");
  if (!file) FAIL(drafted.text + base::render(file.error()));
  const auto diagnostics = validate_task(*file);
  if (!diagnostics.empty()) FAIL(drafted.text + base::render(diagnostics));
  const auto values = environment(*file, workloads(*file).front());
  REQUIRE(values);
  const auto plan = resolve(*file, *values);
  if (!plan) FAIL(drafted.text + base::render(plan.error()));
  return *file;
}

}  // namespace

TEST_CASE("a plain program with main is drafted whole") {
  const Draft drafted = draft(R"(#include <cstdio>
#include <cuda_runtime.h>
#define BLOCK 256

// Adds two vectors.
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Checks the result.
static bool check(const float* c) { return c[0] == 3; }

int main() {
  const int N = 1 << 20;
  size_t bytes = N * sizeof(float);
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, bytes);
  cudaMalloc((void**)&d_b, bytes);
  cudaMalloc(&d_c, sizeof(float) * N);
  int blocks = (N + BLOCK - 1) / BLOCK;
  add<<<blocks, BLOCK>>>(d_a, d_b, d_c, N);
  for (int r = 0; r < 10; ++r) add<<<blocks, BLOCK>>>(d_a, d_b, d_c, N);
  printf("%d\n", check(d_c));
}
)", "vector_add.cu");
  const File file = whole(drafted);
  CHECK(file.task == "vector_add");
  CHECK(drafted.text.find("//@ size    N = 1048576\n") != std::string::npos);
  CHECK(drafted.text.find("//@ input   a: float32[N]\n//@ input   b: float32[N]\n//@ output  c: float32[N]\n") != std::string::npos);
  CHECK(drafted.text.find("//@ launch  add<<<ceil_div(N, 256), 256>>>(a, b, c, N)\n") != std::string::npos);
  CHECK(drafted.text.find("main") == std::string::npos);
  CHECK(drafted.text.find("Checks the result") == std::string::npos);
  CHECK(drafted.text.find("Adds two vectors") != std::string::npos);
  CHECK(mentions(drafted.set_aside, "host function main (lines 14-25)"));
  CHECK(mentions(drafted.set_aside, "#include <cstdio>"));
  CHECK_FALSE(mentions(drafted.set_aside, "cuda_runtime"));
}

TEST_CASE("dim3 variables, casts and ceil become plain expressions") {
  const Draft drafted = draft(R"(
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
)", "t.cu");
  const File file = whole(drafted);
  CHECK(drafted.text.find("transpose<<<dim3(ceil_div(W, 32), ceil_div(H, 8)), dim3(32, 8), 32 * 33 * 4>>>(out, in, W, H)") != std::string::npos);
  CHECK(file.buffers.size() == 2);
}

TEST_CASE("what the source does not say is marked, and the parser asks for it") {
  const Draft drafted = draft(R"(#include <torch/extension.h>
template <typename scalar_t>
__global__ void scale_kernel(const scalar_t* __restrict__ x, scalar_t* y, scalar_t alpha, size_t size) { y[0] = alpha * x[0]; }
torch::Tensor scale(torch::Tensor x, double alpha) {
  auto y = torch::empty_like(x);
  const auto size = x.numel();
  const int threads = 1024;
  const dim3 blocks((size + threads - 1) / threads);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", ([&] {
    scale_kernel<scalar_t><<<blocks, threads>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), alpha, size);
  }));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
)", "scale.cu");
  CHECK(drafted.text.find("//@ #       to complete: size size = <value>\n") != std::string::npos);
  CHECK(drafted.text.find("//@ #       to complete: scalar alpha: float32 = <value>\n") != std::string::npos);
  CHECK(drafted.text.find("//@ launch  scale_kernel<float><<<ceil_div(size, 1024), 1024>>>(x, y, alpha, size)\n") != std::string::npos);
  CHECK(drafted.text.find("torch") == std::string::npos);
  CHECK(mentions(drafted.to_complete, "sizes size"));
  CHECK(mentions(drafted.set_aside, "#include <torch/extension.h>"));
  CHECK(mentions(drafted.set_aside, "host function PYBIND11_MODULE"));
  const auto file = parse(drafted.text, "scale.cu");
  REQUIRE_FALSE(file);
  CHECK(file.error().size() == 2);
  CHECK(file.error()[0].message == "complete this: size size = <value>");
}

TEST_CASE("two launches share buffers, and what lies between them is scratch") {
  const Draft drafted = draft(R"(
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
)", "sum.cu");
  const File file = whole(drafted);
  REQUIRE(file.scratches.size() == 1);
  CHECK(file.scratches[0].name == "p");
  CHECK(file.plan.size() == 3);
  CHECK(drafted.text.find("//@ output  y: float32[1]\n") != std::string::npos);
}

TEST_CASE("a kernel that nobody launches gets its buffers and an open launch") {
  const Draft drafted = draft("__global__ void k(float* x, int n, float eps) { x[0] += eps; }\n", "7k.cu");
  CHECK(drafted.text.find("//@ task    task_7k\n") != std::string::npos);
  CHECK(drafted.text.find("to complete: launch k<<<<grid>, <block>>>>(x, n, eps)") != std::string::npos);
  CHECK(drafted.text.find("//@ inout   x: float32[n]") != std::string::npos);
  CHECK(mentions(drafted.to_complete, "launch of k"));
}

TEST_CASE("a kernel file is left as it is") {
  const std::string source = "//@ task k\n__global__ void k() {}\n";
  CHECK(draft(source, "k.cu").text == source);
}
