// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "kernel/expression.hpp"
#include "tensor/distribution.hpp"
#include "tensor/dtype.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::kernel {

// Where a directive stands, for messages.
struct Place {
  int line = 0, column = 0;
};

// `N = 4096, M = 2*N` on one line: an assignment of sizes. Several size lines are several workloads.
struct SizeLine {
  std::vector<std::pair<std::string, Expression>> values;
  double weight = 1;  // `size N = 4096 weight 2`
  Place place;
};

// `scalar alpha: float32 = 0.5`
struct Scalar {
  std::string name;
  tensor::Dtype dtype = tensor::Dtype::float32;
  Expression value;
  Place place;
};

// `struct Body = position: float32[3], id: int32`: elements whose members differ in type, laid out as C++ lays them out.
struct Structure {
  struct Member {
    std::string name;
    tensor::Dtype dtype = tensor::Dtype::float32;
    std::int64_t count = 0;  // of an array; 0: none
    std::size_t offset = 0;  // bytes from the element's beginning
  };
  std::string name;
  std::vector<Member> members;
  std::size_t bytes = 0;     // of an element, its padding included
  Place place;
};

// Each member of a buffer of structures is a buffer of its own, "bodies.position", but for where it lies: in the memory of `memory`,
// from `offset` on in every `stride` bytes.
struct Within {
  std::string memory, structure;
  std::size_t offset = 0, stride = 0, width = 0;  // bytes, width those of the member; stride 0: memory of its own

  bool operator==(const Within&) const = default;
};

// `input A: float32[N, M] ~ normal`, `inout …`, `output …`
struct Buffer {
  enum class Role { input, output, inout };
  Role role = Role::input;
  std::string name;
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::vector<Expression> shape;                       // empty: one element
  std::optional<tensor::Distribution> distribution;    // inputs and inouts only
  Place place;
  Within within;

  // What a launch calls it.
  const std::string& memory() const { return within.stride == 0 ? name : within.memory; }
};

// `tolerance C = 1e-3` or `tolerance C: relative 1e-3 absolute 1e-5`
struct Tolerance {
  std::string output;  // empty: every output
  double relative = 0, absolute = 0;
  Place place;
};

// `tune BLOCK = 128 | 256 | 512 if BLOCK * VEC <= 1024`: a family; every combination of all tunables whose conditions
// hold is one member.
struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;
  Expression condition;  // empty: always
  Place place;
};

// `scratch S: int32[1] = 0`: device memory private to one run; without `=` it is left poisoned.
struct Scratch {
  std::string name;
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::vector<Expression> shape;
  std::optional<double> initial;
  Place place;
};

// The parts of an extent `dim3(a, b, c)` or a single expression.
struct Dim3Expression {
  Expression x, y, z;  // empty: 1
};

struct LaunchStep {
  std::string kernel;  // as written: "scale_rows", "ns::k<float, BLOCK>"
  Dim3Expression grid, block, cluster;
  Expression shared_bytes;  // dynamic; empty: 0
  bool cooperative = false;
  std::vector<Expression> arguments;  // `C`, `C + N*M`, `N`, `alpha`; resolved against buffers, sizes and scalars
  Place place;
};

// `memset S = 0`, inside the timed plan
struct MemsetStep {
  std::string buffer;
  std::int64_t value = 0;  // of each byte
  Place place;
};

// `copy weights = W`: what an input holds into a `__constant__` variable of the file, inside the timed plan and before its launches
struct CopyStep {
  std::string variable, buffer;
  Place place;
};

struct Step;
// `for t in 0..T { … }`: the steps written between braces, or the single step after it
struct RepeatStep {
  std::string variable;
  Expression from, to;  // to is exclusive
  std::vector<Step> body;
  Place place;
};

struct Step {
  std::variant<LaunchStep, MemsetStep, CopyStep, RepeatStep> step;
};

// A kernel file: task, answer or output. What the directives say, and the source text they stand in.
struct File {
  std::string name;    // path as the user gave it, for messages and diagnostics
  std::string source;  // the whole text, directives included (line numbers of compiler messages stay true)

  // The interface: only a task decides it. An answer may repeat it, equal.
  std::string task;                                     // empty: not stated
  std::optional<std::pair<std::string, Place>> torch;   // the text after `torch`
  std::vector<SizeLine> sizes, checks;
  std::vector<Scalar> scalars;
  std::vector<Structure> structures;
  std::vector<Buffer> buffers;                          // in order of appearance
  std::vector<Tolerance> tolerances;
  std::vector<std::string> includes, options;

  // The answer's part.
  std::optional<std::pair<std::string, std::string>> of;  // file name, "sha256:…"
  std::vector<Tunable> tunables;
  std::vector<Scratch> scratches;
  std::vector<Step> plan;
};

// Parses a kernel file. Every complaint is reported, not only the first; misspelt directives get a suggestion.
tl::expected<File, base::Diagnostics> parse(std::string source, std::string name);

// What a whole task must have beyond what parse() demands of any kernel file: an output, a launch, every name that an
// expression uses, every launched kernel's definition. Empty when all is well.
base::Diagnostics validate_task(const File& file);

// A note for each `__global__` function that no step of the plan launches.
base::Diagnostics unlaunched(const File& file);

// Refuses a text that has no directive at all, with the hint to run `cudal1 init`.
tl::expected<void, base::Diagnostic> valid_host_text(const std::string& source, const std::string& name);

// Checks a parsed answer against its task: no interface directive that differs, no compiler options or includes, a
// plan that is not empty. Returns the answer with the task's interface filled in.
tl::expected<File, base::Diagnostics> bind(const File& task, const File& answer);

// The directives as text, one per line with the `//@` prefix; parse(print(f) + code) means the same as f.
std::string print(const File& file);

// The source without directive lines and without a host part under `#ifndef __CUDACC_RTC__`: what a model is shown.
std::string code(const File& file);

// `[N, M]` values of a buffer's shape and their product. Errors: negative extent, more than 2^62 bytes.
tl::expected<std::vector<std::int64_t>, base::Diagnostic> extents(const std::vector<Expression>& shape,
                                                                  const Environment& environment);

}  // namespace cudal1::kernel
