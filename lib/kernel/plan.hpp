// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::kernel {

// A launch plan with every expression evaluated: what a device executes.

struct PlanBuffer {
  enum class Role { input, output, inout, scratch };
  Role role = Role::input;
  std::string name;
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::vector<std::int64_t> shape;
  std::size_t bytes = 0;
  std::optional<double> initial;  // scratch only: each element's value, written inside the timed plan
  // A member of structures (file.hpp): its `width` bytes lie from `offset` on in every `stride` bytes of the memory that the first
  // buffer with this `memory` stands for. Stride 0: memory of its own.
  std::string memory;
  std::size_t offset = 0, stride = 0, width = 0;

  std::size_t memory_bytes() const { return stride == 0 || width == 0 ? bytes : bytes / width * stride; }
  // Where in the memory an element of the buffer's own type begins.
  std::size_t element_at(std::size_t element) const {
    const std::size_t size = tensor::size_of(dtype);
    if (stride == 0) return element * size;
    const std::size_t together = width / size;
    return element / together * stride + offset + element % together * size;
  }
};
// The buffer whose memory this one lies in: itself, or the first member of the same structures.
std::size_t memory_of(const std::vector<PlanBuffer>& buffers, std::size_t buffer);
void place_within(PlanBuffer& buffer, const Within& within);

struct BufferArgument {
  std::size_t buffer = 0;       // index into Plan::buffers
  std::int64_t byte_offset = 0;
};
// A scalar already converted to the parameter's declared type: its bytes as the kernel receives them.
struct ScalarArgument {
  std::array<std::byte, 8> bytes{};
  std::size_t size = 0;  // 1, 2, 4 or 8
};
// `tensor_map(B, axes(K, N), box(32, 128), swizzle(128))`: what cuTensorMapEncodeTiled is given. The first axis is the innermost.
struct TensorMapArgument {
  enum class Element { uint8, uint16, uint32, int32, uint64, int64, float16, float32, float64, bfloat16, tf32 };
  std::size_t buffer = 0;
  std::int64_t byte_offset = 0;
  Element element = Element::float32;
  std::size_t element_bytes = 4;
  std::vector<std::uint64_t> extents;
  std::vector<std::uint64_t> strides;   // bytes, of the second axis on
  std::vector<std::uint32_t> box;
  std::uint32_t swizzle = 0;            // bytes: 0, 32, 64 or 128
};
using Argument = std::variant<BufferArgument, ScalarArgument, TensorMapArgument>;

using Dim3 = std::array<std::uint32_t, 3>;

struct Launch {
  std::string kernel;  // name expression with tunables substituted: "scale_rows", "k<float, 128>"
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{0, 0, 0};  // cluster 0: none asked for
  std::uint32_t shared_bytes = 0;                        // dynamic
  bool cooperative = false;
  std::vector<Argument> arguments;
};
struct Memset {
  std::size_t buffer = 0;
  std::uint8_t value = 0;
};
// All of an input into a `__constant__` variable of as many bytes.
struct Copy {
  std::string variable;         // as the source names it
  std::size_t buffer = 0;
};
using PlanStep = std::variant<Launch, Memset, Copy>;

struct Plan {
  std::vector<PlanBuffer> buffers;  // the task's, in order of appearance, then the answer's scratches
  std::vector<PlanStep> steps;      // repeats unrolled; at most 100,000
  // Every distinct name expression launched, for the compiler.
  std::vector<std::string> kernels() const;
};

// Evaluates a file's plan for given sizes (including derived ones, scalars and tunables in `environment`). Checked:
// grids and blocks positive and within CUDA's limits, every size within its parameter's type, argument counts, names.
tl::expected<Plan, base::Diagnostic> resolve(const File& file, const Environment& environment);

// Every member of the tune family in the order of the last tunable fastest; one empty environment when there is none.
// An impossible family (all pruned, or more than 4096 members) is a diagnostic.
tl::expected<std::vector<Environment>, base::Diagnostic> family(const File& file);

// "constexpr int BLOCK = 128;\n" for each tunable: goes in front of the source.
std::string tunable_prelude(const Environment& tunables);

}  // namespace cudal1::kernel
