// SPDX-License-Identifier: Apache-2.0
#include "kernel/tensor_map.hpp"

#include "catch.hpp"
#include "kernel/output.hpp"
#include "kernel/workload.hpp"

#include <string>

using namespace cudal1;
using namespace cudal1::kernel;

namespace {

std::string task_with(const std::string& map, const std::string& parameter = "const __grid_constant__ CUtensorMap map") {
  return "//@ task t\n//@ size N = 256, K = 128\n//@ input B: float32[N, K]\n//@ output C: float32[N]\n//@ launch k<<<1, 128>>>(" + map +
         ", C)\n#include <cuda.h>\n__global__ void k(" + parameter + ", float* C) {}\n";
}

// The map that a launch is given, or what is said against it.
tl::expected<TensorMapArgument, std::string> map_of(const std::string& map, const std::string& parameter = "const __grid_constant__ CUtensorMap map") {
  const auto file = parse(task_with(map, parameter), "t.cu");
  if (!file) return tl::unexpected(base::render(file.error()));
  if (const auto wrong = validate_task(*file); !wrong.empty()) return tl::unexpected(base::render(wrong));
  const auto values = environment(*file, workloads(*file).front());
  if (!values) return tl::unexpected(base::render(values.error()));
  const auto plan = resolve(*file, *values);
  if (!plan) return tl::unexpected(base::render(plan.error()));
  return std::get<TensorMapArgument>(std::get<Launch>(plan->steps.front()).arguments.front());
}

}  // namespace

TEST_CASE("a tensor map takes its strides from its axes, innermost first") {
  const auto map = map_of("tensor_map(B, axes(K, N), box(32, 128), swizzle(128), type(tf32))");
  if (!map) FAIL(map.error());
  CHECK(map->extents == std::vector<std::uint64_t>{128, 256});
  CHECK(map->strides == std::vector<std::uint64_t>{512});
  CHECK(map->box == std::vector<std::uint32_t>{32, 128});
  CHECK(map->swizzle == 128);
  CHECK(map->element == TensorMapArgument::Element::tf32);
  const auto part = map_of("tensor_map(B + 4 * K, axes(K / 2, N / 4 - 1), strides(4 * K), box(16, 8))");
  if (!part) FAIL(part.error());
  CHECK(part->byte_offset == 2048);
  CHECK(part->extents == std::vector<std::uint64_t>{64, 63});
  CHECK(part->strides == std::vector<std::uint64_t>{2048});
  CHECK(part->element == TensorMapArgument::Element::float32);
}

TEST_CASE("what the driver would refuse is refused before a launch, and names the part") {
  const auto said = [](const std::string& map, const std::string& message, const std::string& parameter = "const __grid_constant__ CUtensorMap map") {
    const auto result = map_of(map, parameter);
    INFO(map);
    REQUIRE(!result);
    INFO(result.error());
    CHECK(result.error().find(message) != std::string::npos);
  };
  said("tensor_map(B, axes(K, N))", "needs axes(…) and box(…)");
  said("tensor_map(B, axes(K, N), box(32))", "the box has 1 extents, the tensor map 2 axes");
  said("tensor_map(B, axes(K, N), box(32, 512))", "1 to 256 elements; this has 512");
  said("tensor_map(B, axes(K, N), box(6, 8))", "24 bytes; a tensor map needs a multiple of 16");
  said("tensor_map(B, axes(K, N), box(64, 8), swizzle(128))", "256 bytes; with swizzle(128) it may have 128");
  said("tensor_map(B, axes(K, N), box(32, 8), swizzle(100))", "swizzle takes 0, 32, 64 or 128");
  said("tensor_map(B, axes(K, N + 1), box(32, 8))", "ends 512 bytes past the end of B");
  said("tensor_map(B, axes(K, N), strides(K - 1), box(32, 8))", "508 bytes apart; a tensor map needs a multiple of 16");
  said("tensor_map(B + 1, axes(K, 8), box(32, 8))", "begins at a multiple of 16 bytes");
  said("tensor_map(B, axes(K, N), box(32, 8), type(float16))", "has 2 bytes, one of B has 4");
  said("tensor_map(B, axes(K, N), box(32, 8), type(tf33))", "type takes one of");
  said("tensor_map(B, axes(K, N), box(32, 8), box(32, 8))", "a second `box`");
  said("tensor_map(B, axes(K, N), boxes(32, 8))", "has no `boxes`");
  said("tensor_map(N, axes(K, N), box(32, 8))", "tensor_map begins with a buffer");
  said("tensor_map(B, axes(K, Q), box(32, 8))", "unknown name `Q`");
  said("tensor_map(B, axes(K, N), box(32, 8))", "declare it as const __grid_constant__ CUtensorMap", "const float* map");
  said("B", "is a tensor map", "const __grid_constant__ CUtensorMap map");
  said("1 + tensor_map(B, axes(K, N), box(32, 8))", "B is a buffer; expected a size, scalar or tunable", "int map");
}

TEST_CASE("the exported file encodes the map on the host") {
  const auto file = parse(task_with("tensor_map(B, axes(K, N), box(32, 128), swizzle(128), type(tf32))"), "t.cu");
  REQUIRE(file);
  const std::string text = output_file(*file, *file, {});
  CHECK(text.find("//@ launch  k<<<1, 128>>>(tensor_map(B, axes(K, N), box(32, 128), swizzle(128), type(tf32)), C)") != std::string::npos);
  CHECK(text.find("cudal1_host::tensor_map(&cudal1_map_0, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, B, cudal1_extents, cudal1_strides, cudal1_box,") != std::string::npos);
  CHECK(text.find("cudal1_extents[5] = {(unsigned long long)(K), (unsigned long long)(N)}") != std::string::npos);
  CHECK(text.find("(cudal1_map_0, C)") != std::string::npos);
}
