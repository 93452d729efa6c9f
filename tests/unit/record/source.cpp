// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "record/constants.hpp"
#include "record/device_source.hpp"
#include "record/element_type.hpp"
#include "record/fixed_parameter.hpp"
#include "record/recording.hpp"

#include <cstring>

using namespace cudal1;

TEST_CASE("a linked symbol is a kernel's name as a launch writes it") {
  CHECK(record::kernel_name("_Z5scalePfi") == "scale");
  CHECK(record::kernel_name("_Z1kIfLi128EEvPT_i6float4") == "k<float, 128>");
  CHECK(record::kernel_name("_ZN2ns1kIfLb1EEEvPT_") == "ns::k<float, true>");
  CHECK(record::kernel_name("_ZN12_GLOBAL__N_14moveEPf") == "move");
  CHECK(record::kernel_name("plain") == "plain");
}

namespace {

const char* const program = R"(
#define SIZE 16
#define UNUSED 3
struct Point { float x, y; };
struct Unused { int a; };
static const int step = SIZE * 2;
int host_count = 0;
__constant__ float table[SIZE];
// Adds.
__device__ Point add(Point a, Point b) { return {a.x + b.x, a.y + step}; }
__device__ float other(float x) { return x; }
void helper(float* x) { move<<<1, 2>>>(x); }
__global__ void move(Point* p, int n);
namespace inner {
__global__ void move(Point* p, int n) { p[n] = add(p[n], {table[0], 0}); }
}
int main() { helper(nullptr); }
)";

}  // namespace

TEST_CASE("a source is cut down to what a kernel mentions") {
  const auto cut = record::slice({program, {"cstdio", "cuda_fp16.h", "vector"}}, {"inner::move"});
  CHECK(cut.missing.empty());
  for (const char* kept : {"#define SIZE 16", "struct Point", "static const int step", "table[SIZE]", "// Adds.", "Point add(", "namespace inner {", "p[n] = add", "#include <cuda_fp16.h>"})
    CHECK_THAT(cut.text, containing(kept));
  for (const char* left : {"UNUSED", "Unused", "host_count", "other(", "helper", "main", "move(Point* p, int n);", "vector"}) CHECK_THAT(cut.text, !containing(left));
  CHECK(record::slice({program, {}}, {"absent"}).missing.contains("absent"));
}

TEST_CASE("what a launch gives a template is part of the source") {
  const auto cut = record::slice({"namespace n { struct Traits { static constexpr int width = 4; }; }\nstruct Other {};\n"
                                  "template <typename T, int W> __global__ void k(int* p) { *p = T::width; }\n", {"thrust/pair.h", "thrust/sort.h"}}, {"k<n::Traits, 2>"});
  CHECK(cut.missing.empty());
  CHECK_THAT(cut.text, containing("struct Traits") && !containing("Other") && !containing("thrust"));
  const auto pair = record::slice({"__global__ void k(int* p) { *p = thrust::pair<int, int>(1, 2).first; }\n", {"thrust/pair.h", "thrust/sort.h"}}, {"k"});
  CHECK_THAT(pair.text, containing("#include <thrust/pair.h>") && !containing("sort.h"));
}

TEST_CASE("a macro may stand for the words that make a function the device's") {
  const auto cut = record::slice({"#define HD __host__ __device__ inline\nHD int twice(int x) { return 2 * x; }\nint host(int x) { return x; }\n"
                                  "__global__ void k(int* p) { *p = twice(host(1)); }\n", {}}, {"k"});
  CHECK_THAT(cut.text, containing("int twice") && containing("#define HD") && !containing("int host"));
}

TEST_CASE("variables of the module get what they held") {
  record::Variable table{"table", record::Bytes(8), {}};
  const float values[2] = {0.5F, -3};
  std::memcpy(table.before.data(), values, sizeof values);
  table.after = table.before;
  const auto cut = record::slice({"__constant__ float table[2];\n__global__ void k(float* p) { *p = table[0]; }\n", {}}, {"k"});
  CHECK_THAT(record::with_constants(cut, {table}, {}).value(), containing("float table[2] = {0.5f, -3.0f};"));
  table.after[0] = std::byte{1};
  CHECK_THAT(record::with_constants(cut, {table}, {}).error(), containing("the kernel writes the variable table"));
}

TEST_CASE("instances of a variable's template get what they held") {
  record::Variable table{"_Z5tableIdE", record::Bytes(16), {}};
  const double values[2] = {0.5, -3};
  std::memcpy(table.before.data(), values, sizeof values);
  table.after = table.before;
  REQUIRE(record::kernel_name(table.symbol) == "table<double>");
  const auto cut = record::slice({"#define N 2\ntemplate <typename T> __constant__ T table[N];\ntemplate <typename T> __global__ void k(T* p) { *p = table<T>[0]; }\n", {}}, {"k"});
  CHECK_THAT(record::with_constants(cut, {table}, {}).value(), containing("T table[N];\ntemplate <> __constant__ double table<double>[N] = {0.5, -3.0};"));
}

TEST_CASE("a structure passed by value becomes a variable of the body") {
  const record::Bytes bytes = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{2}};
  const std::string source = "struct P { char a[4]; };\n__global__ void k(int n, const P p, float* x) { x[n] = p.a[0]; }\n";
  const std::string changed = record::with_fixed_parameter(source, "k", 3, 1, bytes).value();
  CHECK_THAT(changed, containing("unsigned char recorded_k_p[4] = {1, 0, 0, 2};"));
  CHECK_THAT(changed, containing("void k(int n, float* x) {\n  P p = *reinterpret_cast<const P*>(recorded_k_p); x[n]"));
  CHECK_THAT(record::with_fixed_parameter(source, "k", 3, 0, bytes).value(), containing("void k( const P p, float* x)"));
  CHECK_FALSE(record::with_fixed_parameter(source, "k", 2, 0, bytes));
  const std::string passing = record::with_fixed_parameter(source, "k", 3, 1, bytes, {{8, "p_at_8"}}).value();
  CHECK_THAT(passing, containing(", void* p_at_8)"));
  CHECK_THAT(passing, containing("*reinterpret_cast<void**>(reinterpret_cast<char*>(&p) + 8) = p_at_8;"));
}

TEST_CASE("elements behind a pointer have the type of their members") {
  const std::string source = "struct Body { float3 at; float mass, speed[3]; };\nstruct Mixed { float a; int b; };\ntypedef struct { double re, im; } Complex;\nstruct Node { Node* next; };";
  CHECK(record::element_type("const float4*", {}, source) == tensor::Dtype::float32);
  CHECK(record::element_type("unsigned char*", {}, source) == tensor::Dtype::uint8);
  CHECK(record::element_type("Body*", {}, source) == tensor::Dtype::float32);
  CHECK(record::element_type("Complex *", {}, source) == tensor::Dtype::float64);
  CHECK_FALSE(record::element_type("Mixed*", {}, source));
  CHECK_FALSE(record::element_type("Absent*", {}, source));
}

TEST_CASE("what a structure's pointer leads to is read from its members") {
  const std::string source = "struct View { int rows, columns; const float* data; double scale; long *index[2]; unsigned char flags; const half* last; };";
  CHECK(record::member_element_type("View", 8, {}, source) == tensor::Dtype::float32);
  CHECK(record::member_element_type("const View", 32, {}, source) == tensor::Dtype::int64);
  CHECK(record::member_element_type("View", 48, {}, source) == tensor::Dtype::float16);
  CHECK_FALSE(record::member_element_type("View", 16, {}, source));
  CHECK_FALSE(record::member_element_type("Other", 8, {}, source));
}
