// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/drafted_shape.hpp"
#include "kernel/drafted_task.hpp"
#include "kernel/host_expression.hpp"
#include "kernel/host_source.hpp"
#include "kernel/kernel_facts.hpp"
#include "kernel/output.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/signature.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::kernel {

// Which launches a draft is made of: all of one host function, or one kernel's.
struct DraftChoice {
  std::optional<std::size_t> function;
  std::string kernel;
};

// What the drafts that are tried of one file have in common.
struct DraftedFile {
  explicit DraftedFile(const std::string& source);
  TypeNames aliases;
  std::map<std::string, KernelFacts> facts;      // of a kernel by itself
};

// What a launch gives its kernel, to read the kernel's accesses with.
struct SeenLaunch {
  const Signature* signature = nullptr;
  std::map<std::string, Polynomial> constants;   // parameters and template arguments
  std::map<std::string, std::pair<std::string, Polynomial>> buffers;  // parameter → buffer's key, offset
  std::map<std::string, std::int64_t> widths;
  std::optional<KnownLaunch> launch;
  std::size_t step = 0;                          // of task_.launches
};

// Drafts one task from an ordinary source: its launches, their arguments as buffers, sizes and scalars, and what the kernels'
// own text shows of them.
class Drafter {
 public:
  // `expanded` is the source with its macros put in. All must outlive it.
  Drafter(const std::string& source, const std::string& name, const HostSource& host, const std::vector<Signature>& kernels,
          const KernelSource& expanded, DraftedFile& file, DraftChoice choice);

  // A plan of branches or repetitions is rarely the one that is meant.
  bool straight() const;

  // Once.
  Draft run();

 private:
  void note(std::string text) { task_.note(std::move(text)); }
  void remark(std::string text) { task_.remark(std::move(text)); }

  // drafter.cpp
  const Signature* signature_named(const std::string& name) const;
  int line_of_token(std::size_t index) const;
  std::string raw(TokenRange range) const;
  std::string free_name(std::string name) const;
  std::string bare_size(const std::string& wanted);
  void find_roles();
  std::string kept_code() const;

  // drafted_launches.cpp
  // One task is one plan: the launches of the first host function that has any. A launch repeated word for word (a
  // warm-up and a timed one) counts once.
  void choose_launches();
  // A kernel called inside its namespace without the qualification.
  const Signature* base_signature(const HostLaunch& launch) const;
  // Template arguments as a directive can write them: constants resolved, deduced types taken for float.
  std::string kernel_text(const HostLaunch& launch, const Signature& signature, TypeNames& types);
  // Whether the file or the language has a type of that name; the parameter of a template around the launch is none.
  bool names_a_type(const std::string& words) const;
  std::optional<std::int64_t> translated_constant(const std::string& text, const HostLaunch& launch);
  void add_launch(const HostLaunch& launch);
  bool unvalued(const Expression& part) const;
  // A size that is a product of others stands for that product: `n = rows * cols` divides by cols.
  Polynomial plain_product(const Polynomial& p) const;
  // Blocks or threads that the host computes beyond expressions, as a kernel that nothing launches gets them.
  std::optional<HostTranslator::Dimensions> launch_from_guards(const HostLaunch& launch, const Signature& signature, const SeenLaunch& seen, std::size_t part);
  static void note_template_values(const Signature& signature, const TypeNames& types, SeenLaunch& seen);
  std::optional<HostTranslator::Dimensions> shared_bytes(const HostLaunch& launch, std::size_t index);
  // Of a kernel that nothing in the file launches: one argument for each parameter, and the launch that its guards ask for.
  void add_unlaunched(const Signature& signature);
  static std::string guessed_template_value(const std::string& name);
  bool uses_block(const std::string& kernel, std::size_t axis) const;
  // Blocks that no guard counts: a size of its own.
  std::string grid_size(std::size_t axis);

  // drafted_arguments.cpp
  std::optional<std::string> add_argument(const HostLaunch& launch, TokenRange range, const Signature& signature, const Parameter& parameter, const TypeNames& types);
  std::string scalar_for(const std::string& wanted, tensor::Dtype dtype, const std::string& value);
  std::optional<std::string> real_argument(const HostLaunch& launch, TokenRange range, const Parameter& parameter, tensor::Dtype dtype);
  // `d_A`, `d_A + n`, `A.data_ptr<float>()`, `thrust::raw_pointer_cast(a.data())`, `(float*)d_A`
  std::optional<std::string> pointer_argument(const HostLaunch& launch, TokenRange range, const Signature& signature, const Parameter& parameter, const TypeNames& types);
  // The buffer of an argument, remembered for reading the kernel's accesses. Null where its type cannot be one.
  DraftedBuffer* parameter_buffer(const std::string& key, const std::string& parameter_name, const Signature& signature, const Parameter& parameter, const TypeNames& types, const Polynomial& offset);

  // drafted_buffers.cpp
  DraftedBuffer* buffer_for(const std::string& key, const Signature& signature, const Parameter& parameter, const TypeNames& types, bool behind_start);
  void use(DraftedBuffer& buffer, const Signature& signature, const Parameter& parameter, bool behind_start);
  const KernelFacts& facts_of(const Signature& signature);
  // cudaMalloc(&d_A, N * M * sizeof(float)) in the same function.
  void infer_shape(const HostLaunch& launch, const std::string& key);
  // `N * M * sizeof(float)` without its sizeof.
  std::optional<std::string> element_count(TokenRange bytes, const HostLaunch& launch, std::size_t at);
  // Shapes and index bounds from what the kernels do to their buffers.
  void infer_shapes();
  // "@idx" as the size `idx_range`, where no other access says what the indices are below.
  Polynomial with_index_sizes(const Polynomial& p, const std::map<std::string, Polynomial>& known);
  // A name of the kernel's that is no size of the task is one from here on.
  void with_valid_names(const std::string& shape);

  const std::string& source_;
  const std::string& name_;
  const HostSource& host_;
  const std::vector<Signature>& signatures_;
  const KernelSource& expanded_;  // with its macros put in
  DraftChoice choice_;
  HostTranslator translator_;
  DraftedFile& file_;
  std::vector<SeenLaunch> seen_launches_;
  SeenLaunch* seen_ = nullptr;  // the launch that is being drafted
  std::vector<std::string> given_;
  std::map<std::string, std::string> index_sizes_;  // "@idx" → "idx_range"
  std::string drafted_kernel_;
  std::vector<HostLaunch> launches_;
  DraftedTask task_;
  Draft draft_;
};

}  // namespace cudal1::kernel
