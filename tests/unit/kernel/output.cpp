// SPDX-License-Identifier: Apache-2.0
#include "kernel/output.hpp"

#include "base/file.hpp"
#include "base/process.hpp"
#include "catch.hpp"
#include "example_files.hpp"
#include "kernel/workload.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

File parsed(const std::string& source, const std::string& name = "t.cu") {
  const auto file = parse(source, name);
  if (!file) FAIL(source + base::render(file.error()));
  return *file;
}

struct Case {
  std::string name, task, answer;
};

// Between them these use every feature of a plan.
std::vector<Case> cases() {
  return {
      {"tunables", diag_matmul_task, diag_matmul_answer},
      {"templates, namespaces, dynamic shared memory and offsets",
       R"(//@ task sums
//@ size N = 1024, M = 64, Q = N / 2
//@ input  A: float32[N, M]
//@ output C: float32[N]
//@ launch sums<<<N, 32>>>(A, C, M)
__global__ void sums(const float* A, float* C, int M) { if (threadIdx.x == 0) { float s = 0; for (int i = 0; i < M; ++i) s += A[blockIdx.x * M + i]; C[blockIdx.x] = s; } }
)",
       R"(//@ tune B = 64 | 128
//@ launch ns::sums<float, B, true><<<min(Q, N, 512), B, B * 4 * 128>>>(A, C, M)
//@ launch ns::sums<float, B * 2, false><<<Q, 2 * B, 1024>>>(A + Q * M, C + Q, M)
namespace ns {
template <typename T, int BLOCK, bool FIRST>
__global__ void __launch_bounds__(BLOCK) sums(const T* __restrict__ A, T* C, size_t M) { extern __shared__ float s[]; s[threadIdx.x] = FIRST; C[blockIdx.x] = s[0] + A[0] * M; }
}
)"},
      {"scratch, memset, repeats and scalars",
       R"(//@ task scale
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
)",
       R"(//@ scratch S: float32[T, N] = 1.5
//@ scratch Z: int32[1] = 0
//@ scratch U: uint8[N]
//@ memset I = 0
//@ for t in 0..T {
//@   launch scale<<<ceil_div(N, 256), 256>>>(A, S + t * N, I, alpha, beta, root, t > 0, U)
//@   for u in t..T launch other<<<1, max(32, 64)>>>(Z, C, steps)
//@ }
#include <cuda_fp16.h>
#define N 7
using real = float;
__global__ void scale(__half* A, real* C, int64_t* I, real alpha, __half beta, double root, bool late, void* u) { C[0] = alpha * root; I[0] = late; }
extern "C" __global__ void other(unsigned* z, float4* C, short steps) { z[0] = steps; }
)"},
      {"cooperative and cluster launches",
       R"(//@ task copy
//@ size N = 1024
//@ input  A: float32[N]
//@ output C: float32[N]
//@ launch copy<<<N / 32, 32>>>(A, C, N)
__global__ void copy(const float* A, float* C, int N) { C[blockIdx.x] = A[blockIdx.x]; }
)",
       R"(//@ launch copy<<<N / 32, 32>>>(A, C, N) cooperative
//@ launch copy<<<dim3(N / 32, 2), dim3(8, 4), 65536>>>(A, C, N) cluster(2, 1, 1)
//@ launch nothing<<<16, 32>>>() cluster(16) cooperative
__global__ void copy(const float* A, float* C, int N) { C[blockIdx.x] = A[blockIdx.x]; }
__global__ void nothing() {}
)"},
      {"bfloat16 and an empty task name",
       R"(//@ size K = 128
//@ input  X: bfloat16[K]
//@ output Y: bool[K]
//@ launch k<<<1, 128>>>(X, Y)
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* X, bool* Y) { Y[threadIdx.x] = __bfloat162float(X[threadIdx.x]) > 0; }
)",
       R"(//@ launch k<<<1, 128>>>(X, Y)
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* X, bool* Y) { Y[threadIdx.x] = __bfloat162float(X[threadIdx.x]) > 0; }
)"},
  };
}

std::string written(const Case& one) {
  const File task = parsed(one.task, "reference.cu");
  const auto answer = bind(task, parsed(one.answer));
  if (!answer) FAIL(base::render(answer.error()));
  const auto members = family(*answer);
  REQUIRE(members);
  return output_file(task, *answer, members->back());
}

std::filesystem::path nvcc() {
  std::string folders = "/usr/local/cuda/bin";
  if (const char* const path = std::getenv("PATH")) folders += ":" + std::string(path);
  std::istringstream stream(folders);
  for (std::string folder; std::getline(stream, folder, ':');)
    if (const auto path = std::filesystem::path(folder) / "nvcc"; std::filesystem::exists(path)) return path;
  return {};
}

}  // namespace

TEST_CASE("an output is a kernel file again, with its tunables fixed") {
  for (const Case& one : cases()) {
    INFO(one.name);
    const std::string text = written(one);
    INFO(text);
    const File again = parsed(text);
    CHECK(again.tunables.empty());
    CHECK(validate_task(again).empty());
    const auto values = environment(again, workloads(again).front());
    REQUIRE(values);
    const auto plan = resolve(again, *values);
    if (!plan) FAIL(base::render(plan.error()));

    // It runs the same plan as the answer did with these tunables.
    const File task = parsed(one.task);
    const auto answer = bind(task, parsed(one.answer));
    Environment all = *values;
    const auto members = family(*answer);
    all.insert(members->back().begin(), members->back().end());
    const auto first = resolve(*answer, all);
    REQUIRE(first);
    CHECK(first->kernels() == plan->kernels());
    CHECK(first->steps.size() == plan->steps.size());

    // And as an answer it binds to its task.
    CHECK(bind(task, again).has_value());
  }
}

TEST_CASE("an output names its function after the task and keeps constants in front of the code") {
  const std::string text = written(cases().front());
  CHECK(text.find("constexpr int BLOCK = 512;\n") != std::string::npos);
  CHECK(text.find("//@ tune") == std::string::npos);
  CHECK(text.find("cudaError_t diag_matmul(const float* A, const float* B, float* C, long long N, long long M, cudaStream_t stream) {") !=
        std::string::npos);
  CHECK(code(parsed(text)).find("cudaError_t") == std::string::npos);
}

TEST_CASE("what is a number once tunables are fixed is written as one") {
  const std::string text = written({"", R"(//@ task copy
//@ size N = 1024
//@ input  A: float32[N]
//@ output C: float32[N]
//@ launch copy<<<N / 32, 32>>>(A, C, N)
__global__ void copy(const float* A, float* C, int N) { C[blockIdx.x] = A[blockIdx.x]; }
)",
                                    R"(//@ tune BLOCK = 64 | 128
//@ launch copy<<<ceil_div(N * 128, max(BLOCK, 128)), max(BLOCK, 128)>>>(A, C, N)
__global__ void copy(const float* A, float* C, int N) { C[blockIdx.x] = A[blockIdx.x]; }
)"});
  CAPTURE(text);
  CHECK(text.find("max(") == std::string::npos);
  CHECK(text.find("copy<<<ceil_div(N * 128, 128), 128>>>(A, C, N)") != std::string::npos);
}

TEST_CASE("every output builds under nvcc, and so does a program that calls it") {
  const auto compiler = nvcc();
  if (compiler.empty()) {
    WARN("skipped: no nvcc on PATH or in /usr/local/cuda/bin");
    return;
  }
  const base::TemporaryFolder folder("cudal1-output");
  int number = 0;
  for (const Case& one : cases()) {
    const auto path = folder.path() / ("case" + std::to_string(number++) + ".cu");
    std::string text = written(one);
    if (number == 1) {
      text += "int main() { float* p = nullptr; return diag_matmul(p, p, p, 4, 4, cudaStream_t{}) == cudaSuccess ? 0 : 1; }\n";
    }
    base::write_file(path, text);
    const auto done = base::run({compiler, {"-c", "-arch=sm_90", "-o", path.string() + ".o", path.string()}}, "", base::Seconds(120));
    INFO(one.name << "\n" << text << "\n" << done.err);
    CHECK(done.exit_code == 0);
    CHECK(done.err.find("error") == std::string::npos);
  }
}
