// SPDX-License-Identifier: Apache-2.0
#include "kernel/signature.hpp"

#include "catch.hpp"

using namespace cudal1::kernel;

TEST_CASE("kernels are found among everything else a source holds") {
  const auto found = signatures(R"cuda(
#define KERNEL __global__ void macro(int n) \
  { }
// __global__ void in_a_comment(int n) {}
/* __global__ void in_a_block(int n) {} */
const char* text = "__global__ void in_a_string(int n) {}";
const char* raw = R"x(__global__ void in_a_raw_string(int n) {})x";
__global__ void declared_only(int n);
extern "C" __global__ void __launch_bounds__(256, 2) plain(const float* __restrict__ A, float B[], unsigned int n) { if (n) { A++; } }
namespace outer::inner { namespace {
template <typename T, int BLOCK = 256>
static __global__ __attribute__((unused)) void
scale(T *x, const T alpha, size_t count = 1) {}
} }
template <> __global__ void outer::inner::scale<float, 1>(float* x, const float alpha, size_t count) {}
__global__ void nothing(void) {}
struct S { int x; };
)cuda");
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "plain");
  CHECK(found[0].line == 9);
  REQUIRE(found[0].parameters.size() == 3);
  CHECK(found[0].parameters[0].type == "const float* __restrict__");
  CHECK(found[0].parameters[0].name == "A");
  CHECK(found[0].parameters[1].type == "float*");
  CHECK(found[0].parameters[1].pointer);
  CHECK(found[0].parameters[2].type == "unsigned int");
  CHECK_FALSE(found[0].parameters[2].pointer);
  CHECK(found[1].name == "outer::inner::scale");
  CHECK(found[1].template_parameters == std::vector<std::string>{"typename T", "int BLOCK = 256"});
  CHECK(found[1].parameters[1].type == "const T");
  CHECK(found[1].parameters[2].name == "count");
  CHECK(found[2].parameters.empty());
}

TEST_CASE("a launched name is taken apart") {
  const KernelName name = split_kernel_name("ns::k<float, (1 > 0), pair<int, int>>");
  CHECK(name.name == "ns::k");
  CHECK(name.template_arguments == std::vector<std::string>{"float", "(1 > 0)", "pair<int, int>"});
}
