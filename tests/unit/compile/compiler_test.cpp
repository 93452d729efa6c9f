// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler.hpp"
#include "compile/own_headers.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace cudal1;
using compile::Rejection;
namespace fs = std::filesystem;

namespace {

compile::CompilerOptions options() {
  static const compile::NvrtcIdentity identity = compile::find_nvrtc();
  if (identity.library.empty()) CUDAL1_SKIP("NVRTC was not found");
  if (!compile::sandbox_state().available) CUDAL1_SKIP("no sandbox on this machine");
  compile::CompilerOptions all;
  all.worker = {CUDAL1_WORKER, {}};
  return all;
}

compile::Request request(const std::string& source, std::vector<std::string> kernels = {"k"}) {
  compile::Request one;
  one.source = source;
  one.name = "folder/k.cu";
  one.kernels = std::move(kernels);
  return one;
}

// One warm compiler for the tests that need nothing special.
tl::expected<compile::Compiled, Rejection> compiled(const compile::Request& one) {
  static compile::Compiler compiler(options());
  return compiler.compile(one);
}

std::string text(const Rejection& rejection) { return rejection.message + "\n" + base::render(rejection.diagnostics); }

bool has(const std::string& whole, const std::string& part) { return whole.find(part) != std::string::npos; }

const std::string copy = "__global__ void k(float* a, const float* b) { a[threadIdx.x] = b[threadIdx.x]; }\n";

}  // namespace

TEST_CASE("a kernel becomes PTX, a cubin and facts") {
  const auto result = compiled(request("#include <cstdint>\n__global__ void __launch_bounds__(64) k(float* a) {\n"
                                       "  __shared__ float s[64];\n  s[threadIdx.x] = a[threadIdx.x];\n  __syncthreads();\n"
                                       "  a[threadIdx.x] = s[63 - threadIdx.x];\n}\n"));
  REQUIRE(result);
  const outcome::Binary& binary = result->binary;
  CHECK(binary.arch == "sm_90a");
  CHECK(binary.file == "folder/k.cu");
  CHECK(binary.entries.at("k") == "_Z1kPf");
  CHECK(binary.cubin.substr(1, 3) == "ELF");
  CHECK(has(binary.ptx, ".target sm_90a"));
  CHECK(has(binary.ptx, "\"folder/k.cu\""));
  CHECK(has(binary.ptx, ".loc\t1 4 "));
  REQUIRE(binary.resources.size() == 1);
  CHECK(binary.resources[0].kernel == "k");
  CHECK(binary.resources[0].registers > 0);
  CHECK(binary.resources[0].shared_bytes == 256);
  CHECK(binary.resources[0].max_threads_per_block == 64);
  CHECK(result->seconds.count() > 0);
  CHECK_FALSE(result->from_cache);
}

TEST_CASE("template instances are compiled by name, each with its facts") {
  const auto result = compiled(request("namespace n { template <typename T, int N, bool B> __global__ void k(T* a) {\n"
                                       " __shared__ T s[N]; s[threadIdx.x] = a[0]; __syncthreads(); a[1] = s[N - 1 - threadIdx.x]; } }\n",
                                       {"n::k<float, 128*2, true>", "n::k<double, 64, false>"}));
  REQUIRE(result);
  REQUIRE(result->binary.resources.size() == 2);
  for (const auto& facts : result->binary.resources)
    CHECK(facts.shared_bytes == (has(facts.kernel, "float") ? 1024 : 512));
}

TEST_CASE("a kernel may have the name of a function that CUDA has already") {
  const auto result = compiled(request("__global__ void all(const float* a, float* b) { b[threadIdx.x] = a[threadIdx.x]; }\n" + copy, {"all", "k"}));
  REQUIRE(result);
  CHECK(result->binary.entries.at("all") == "_Z3allPKfPf");
  CHECK(result->binary.entries.at("k") == "_Z1kPfPKf");
  const auto missing = compiled(request("__device__ int helper(float* a) { return a[0] > 0; }\n" + copy, {"all"}));
  REQUIRE_FALSE(missing);
  CHECK(has(text(missing.error()), "all"));
}

TEST_CASE("the prelude's constants are seen and shift no line") {
  compile::Request one = request("__global__ void k(float* a) {\n  a[BLOCK] = oops;\n}\n");
  one.prelude = "constexpr int BLOCK = 128;\nconstexpr int UNUSED = 1;\n";
  auto result = compiled(one);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Rejection::Kind::compile_failed);
  CHECK(base::render(result.error().diagnostics) ==
        "folder/k.cu:2:14: error: identifier \"oops\" is undefined\n    a[BLOCK] = oops;\n               ^\n");
  one.source = "template <int N> __global__ void k(float* a) { __shared__ float s[BLOCK]; s[threadIdx.x] = N; a[0] = s[3]; }\n";
  one.kernels = {"k<BLOCK>"};
  result = compiled(one);
  REQUIRE(result);
  CHECK(result->warnings.empty());
}

TEST_CASE("INFINITY needs no include, as under nvcc") {
  const auto result = compiled(request("__global__ void k(float* a) { a[0] = -INFINITY; a[1] = NAN; }\n"));
  REQUIRE(result);
  CHECK(result->binary.resources.size() == 1);
}

TEST_CASE("a warning is told without failing") {
  const auto result = compiled(request("__global__ void k(float* a) {\n  int unused;\n  a[0] = 1;\n}\n"));
  REQUIRE(result);
  REQUIRE(result->warnings.size() == 1);
  CHECK(result->warnings[0].severity == base::Diagnostic::Severity::warning);
  CHECK(result->warnings[0].line == 2);
}

TEST_CASE("PTX alone can be asked for, and every kernel when none is named") {
  compile::Request one = request("template <int N> __global__ void t(int* a) { *a = N; } template __global__ void t<7>(int*);\n" + copy, {});
  one.cubin = false;
  const auto result = compiled(one);
  REQUIRE(result);
  CHECK(result->binary.cubin.empty());
  CHECK(result->binary.entries.count("k") == 1);
  CHECK(result->binary.entries.count("t<7>") == 1);
}

TEST_CASE("a launch of what is no kernel is told by its name") {
  CHECK(has(text(compiled(request(copy, {"missing<3>"})).error()), "\"missing<3>\""));
  const auto device = compiled(request("__device__ int f() { return 1; }\n" + copy, {"f"}));
  REQUIRE_FALSE(device);
  CHECK(has(text(device.error()), "\"f\""));
  CHECK(has(text(compiled(request("int x;", {})).error()), "error"));
  CHECK(has(text(compiled(request("__device__ int f() { return 1; }", {})).error()), "no __global__ function"));
}

TEST_CASE("host code and host headers do not compile") {
  CHECK_FALSE(compiled(request(copy + "void launch(float* a) { k<<<1, 1>>>(a, a); }\n")));
  CHECK_FALSE(compiled(request("#include <thread>\n" + copy)));
  CHECK_FALSE(compiled(request("#include <cublas_v2.h>\n" + copy)));
}

TEST_CASE("headers that models habitually include are there") {
  std::string source;
  for (const char* header : {"algorithm", "cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstdio", "cstdlib",
                             "cstring", "limits", "type_traits", "utility", "math.h", "stdint.h", "float.h", "cuda_runtime.h",
                             "device_launch_parameters.h", "vector_types.h", "cuda.h", "math_constants.h"})
    source += std::string("#include <") + header + ">\n";
  source += "__global__ void k(float* a, uint32_t n) {\n  static_assert(std::is_same_v<std::int32_t, int> && sizeof(std::aligned_storage_t<12, 8>) == 16);\n  assert(n > 2);\n"
            "  a[n] = std::max(std::sqrt(a[0]), -std::numeric_limits<float>::infinity()) + INFINITY + FLT_MAX + INT_MAX;\n"
            "  if (std::isnan(a[1])) printf(\"%f\", std::abs(a[1]));\n  std::swap(a[0], a[1]);\n}\n";
  const auto result = compiled(request(source));
  INFO((result ? std::string() : text(result.error())));
  CHECK(result);
}

TEST_CASE("headers of the toolkit are readable in the sandbox") {
  if (compile::find_nvrtc().include_folder.empty() || !has(compile::sandbox_state().description, "Landlock"))
    CUDAL1_SKIP("the toolkit's headers are not there");
  const auto result = compiled(request("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n#include <cuda_pipeline.h>\n"
                                       "#include <limits>\n#include <cmath>\n"
                                       "__global__ void k(__half* a, __nv_bfloat16* b) { a[0] = __hadd(a[1], a[2]); b[0] = b[1]; }\n"));
  INFO((result ? std::string() : text(result.error())));
  CHECK(result);
}

TEST_CASE("files outside the allowed folders are out of reach, and nothing of them is told") {
  const std::string secret = base::read_file("/etc/passwd").substr(0, 9);
  bool sandbox = true;
  for (int round = 0; round < 2; ++round, sandbox = false) {
    compile::CompilerOptions all = options();
    all.sandbox = sandbox;
    compile::Compiler compiler(all);
    for (const std::string include :
         {"#include \"/etc/passwd\"", "#include </etc/passwd>", "#include \"etc/passwd\"", "#include <etc/passwd>",
          "#include <../../etc/passwd>", "#include \"../etc/passwd\"", "#inc\\\nlude \"/etc/passwd\"", "%:include \"/etc/passwd\"",
          "#define F \"/etc/passwd\"\n#include F", "/* */ # /**/ include /**/ \"/etc/passwd\"", "#embed \"/etc/passwd\"",
          "#line 1 \"k.cu\"\n#include \"/etc/passwd\"", "#include \"\\\n/etc/passwd\"", "?\?=include \"/etc/passwd\"",
          "#import \"/etc/passwd\"", "/*\n*/ #include \"/etc/passwd\""}) {
      INFO(include);
      const auto result = compiler.compile(request(include + "\n" + copy));
      if (!result) {
        CHECK(result.error().kind == Rejection::Kind::compile_failed);
        CHECK_FALSE(has(text(result.error()), secret));
      } else {
        CHECK(has(include, "?\?="));  // no trigraph at all in C++17
      }
    }
  }
}

TEST_CASE("a task's own headers are read, and change the result when they change") {
  const base::TemporaryFolder folder, cache;
  base::write_file(folder.path() / "own.h", "#define VALUE 1.0f\n");
  compile::CompilerOptions all = options();
  all.cache_folder = cache.path();
  compile::Compiler compiler(all);
  compile::Request one = request("#include \"own.h\"\n__global__ void k(float* a) { a[0] = VALUE; }\n");
  one.include_folders = {folder.path()};
  const auto first = compiler.compile(one);
  REQUIRE(first);
  base::write_file(folder.path() / "own.h", "#define VALUE 2.0f\n");
  const auto second = compiler.compile(one);
  REQUIRE(second);
  CHECK_FALSE(second->from_cache);
  CHECK(first->binary.ptx != second->binary.ptx);
  CHECK(compiler.compile(one)->from_cache);
}

TEST_CASE("the device's heap and kernels started by kernels are forbidden, however they are spelled") {
  auto result = compiled(request("#define A mal\n#define B loc\n#define P(x, y) x##y\n#define Q(x, y) P(x, y)\n"
                                 "__global__ void k(float** a) { a[0] = (float*)Q(A, B)(8); }\n"));
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Rejection::Kind::forbidden_code);
  CHECK(has(text(result.error()), "malloc"));
  CHECK(has(text(result.error()), "//@ scratch"));
  result = compiled(request("__global__ void k(float** a) { a[0] = new float[100]; }\n"));
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Rejection::Kind::forbidden_code);
  result = compiled(request("__global__ void other(float* a) { a[0] = 1; }\n__global__ void k(float* a) { other<<<1, 1>>>(a); }\n"));
  REQUIRE_FALSE(result);
  CHECK((result.error().kind == Rejection::Kind::forbidden_code || result.error().kind == Rejection::Kind::compile_failed));
  CHECK(compiled(request("// malloc and cudaLaunchDevice are only words here\n" + copy)));
}

TEST_CASE("a kernel that keeps something between launches is stateful, constants are not") {
  for (const char* source :
       {"__device__ int counter; __global__ void k(int* a) { a[0] = counter++; }",
        "__device__ int counter; __global__ void k(int* a) { a[0] = atomicAdd(&counter, 1); }",
        "__device__ float kept[64]; __global__ void k(float* a) { float* p = a[0] > 0 ? kept : a; p[threadIdx.x] = 1; }",
        "__global__ void k(int* a) { static int calls = 0; a[0] = ++calls; }",
        "__device__ int table[4] = {1, 2, 3, 4}; __global__ void k(int* a) { a[0] = table[a[1]]; table[a[2]] = a[3]; }",
        "__device__ int x; __global__ void k(int** a) { a[0] = &x; }",
        "__device__ int x; __constant__ int* at = &x; __global__ void k(int* a) { a[0] = ++*at; }",
        "__device__ int x, y; __device__ __noinline__ int* at(int n) { return n ? &x : &y; } __global__ void k(int* a) { a[0] = ++*at(a[1]); }",
        "__global__ void k(int* a) { asm volatile(\"{ .global .u32 x; st.global.u32 [x], 1; }\"); a[0] = 1; }"}) {
    INFO(source);
    const auto result = compiled(request(source));
    REQUIRE_FALSE(result);
    if (!has(source, "asm")) {
      CHECK(result.error().kind == Rejection::Kind::stateful);
      CHECK(has(text(result.error()), "//@ scratch"));
    }
  }
  for (const char* source :
       {"__device__ const int table[4] = {1, 2, 3, 4}; __global__ void k(int* a) { a[0] = table[a[1] & 3]; }",
        "__constant__ float c[64]; __global__ void k(float* a) { a[0] = c[int(a[1])]; }",
        "__device__ __noinline__ int twice(const int* a) { return 2 * a[1]; } __global__ void k(int* a) { a[0] = twice(a); }",
        "__device__ int unused; __global__ void k(int* a) { a[0] = 1; }",
        "__global__ void k(int* a) { const char* s = \"abc\"; a[0] = s[a[1]]; printf(\"%d\\n\", a[0]); }",
        "__global__ void k(int* a) { __shared__ int s[64]; s[threadIdx.x] = a[0]; __syncthreads(); a[1] = s[a[2]]; }"}) {
    INFO(source);
    const auto result = compiled(request(source));
    INFO((result ? std::string() : text(result.error())));
    CHECK(result);
  }
}

TEST_CASE("too much static shared memory is explained") {
  const auto result = compiled(request("__global__ void k(float* a) { __shared__ float s[100000]; s[threadIdx.x] = 1; a[0] = s[int(a[1])]; }\n"));
  REQUIRE_FALSE(result);
  CHECK(has(text(result.error()), "400000 bytes of static shared memory"));
}

TEST_CASE("wrong inline assembly fails with the assembler's words") {
  const auto result = compiled(request("__global__ void k(int* a) { asm volatile(\"bogus.u32 %0;\" : \"=r\"(a[0])); }\n"));
  REQUIRE_FALSE(result);
  CHECK(has(text(result.error()), "bogus"));
}

TEST_CASE("a compile bomb ends within the limits and the next compile works") {
  compile::CompilerOptions all = options();
  all.limits.time = base::Seconds{3};
  compile::Compiler compiler(all);
  REQUIRE(compiler.compile(request(copy)));
  const base::Seconds start = base::now();
  const auto unrolled = compiler.compile(request("template <int N> struct F { __device__ static float f(float x) { return F<N - 1>::f(x * x + N) + F<N - 2>::f(x); } };\n"
                                                 "template <> struct F<0> { __device__ static float f(float x) { return x; } };\n"
                                                 "template <> struct F<1> { __device__ static float f(float x) { return x; } };\n"
                                                 "__global__ void k(float* a) { a[0] = F<40>::f(a[1]); }\n"));
  REQUIRE_FALSE(unrolled);
  CHECK(unrolled.error().kind == Rejection::Kind::time_limit);
  CHECK(base::now() - start < base::Seconds{30});
  const auto deep = compiler.compile(request("template <int N> struct D { static const int v = D<N - 1>::v + 1; };\n"
                                             "__global__ void k(int* a) { a[0] = D<100000>::v; }\n"));
  CHECK_FALSE(deep);
  CHECK(compiler.compile(request(copy)));
}

#ifndef CUDAL1_SANITIZED
TEST_CASE("a compile that needs too much memory ends, and the next compile works") {
  compile::CompilerOptions all = options();
  all.limits.memory_bytes = std::size_t{384} << 20;
  compile::Compiler compiler(all);
  REQUIRE(compiler.compile(request(copy)));
  const auto result = compiler.compile(request("__device__ const unsigned char big[400000000] = {1};\n"
                                               "__global__ void k(int* a) { a[0] = big[a[1]]; }\n"));
  REQUIRE_FALSE(result);
  INFO(text(result.error()));
  CHECK(result.error().kind == Rejection::Kind::memory_limit);
  CHECK(compiler.compile(request(copy)));
}
#endif

TEST_CASE("several threads compile at once") {
  compile::Compiler compiler(options());
  std::vector<int> good(3);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < good.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        const std::string value = std::to_string(100 * t + static_cast<std::size_t>(i));
        const auto result = compiler.compile(request("__global__ void k(int* a) { a[0] = " + value + "; }\n"));
        good[t] += result && has(result->binary.ptx, value) ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == std::vector<int>{4, 4, 4});
}

TEST_CASE("an architecture that NVRTC does not know is no fault of the source") {
  compile::Request one = request(copy);
  one.arch = "sm_999";
  CHECK_THROWS_AS(compiled(one), base::Error);
}

TEST_CASE("the task's options reach the compiler") {
  compile::Request one = request("__global__ void k(float* a) { a[0] = a[1] / a[2] * WIDTH; }\n");
  one.options = {"-DWIDTH=3", "--use_fast_math"};
  const auto result = compiled(one);
  REQUIRE(result);
  CHECK(has(result->binary.ptx, "div.approx"));
}

TEST_CASE("what needs Hopper's own target is compiled for it, and the header's text may stand in its place") {
  const std::string source = "#include \"hopper.cuh\"\n__global__ void k(float* a) { hopper::product_fence(); if (hopper::elected()) a[0] = 1; }\n";
  compile::Request one = request(source);
  one.arch = "sm_90";
  const auto result = compiled(one);
  if (!result) FAIL(text(result.error()));
  CHECK(result->binary.arch == "sm_90a");
  CHECK(has(result->binary.ptx, ".target sm_90a"));
  one.source = copy;
  CHECK(compiled(one)->binary.arch == "sm_90");
  const std::string whole = compile::with_own_headers(source);
  CHECK(!has(whole, "#include \"hopper"));
  CHECK(has(whole, "multiply_tf32(float"));
  one.source = whole;
  const auto again = compiled(one);
  if (!again) FAIL(text(again.error()));
  CHECK(again->binary.arch == "sm_90a");
}
