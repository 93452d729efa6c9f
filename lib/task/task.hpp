// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"
#include "tensor/graph.hpp"
#include "tensor/shape.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::task {

// One assignment of all sizes (derived ones too) and scalars.
struct Workload {
  kernel::Environment environment;
  tensor::Sizes sizes;       // the integers of `environment`
  double weight = 1;         // in the geometric mean of the score

  std::string label() const; // "N=4096 M=4096": the declared sizes only, in order of declaration
  std::vector<std::string> declared;
};

// A task ready to be judged: the parsed kernel file, its workloads and check sizes, and its torch line.
struct Task {
  kernel::File file;
  std::filesystem::path path;           // as given
  std::string digest;                   // SHA-256 of the source and of the overrides
  std::vector<Workload> workloads;      // one per `size` line (one when there is none)
  std::vector<Workload> checks;         // declared `check` sizes, or small ragged ones that the tool picks
  std::optional<tensor::Graph> torch;   // the oracle; empty when there is no usable torch line
  std::string no_oracle_reason;         // why torch is empty, one sentence

  std::string name() const;             // the `task` directive, or the file's stem
  std::filesystem::path folder() const; // of the kernel file, for relative paths
  // Inputs' types with extents at every workload, then every check: what tensor::infer and the playbook take.
  std::map<std::string, tensor::Type> input_types() const;
  std::map<std::string, tensor::Type> output_types() const;
  std::vector<tensor::Sizes> assignments() const;
  // Bytes that any implementation must read and write at least once (inputs and outputs), per workload.
  double necessary_bytes(std::size_t workload) const;
  // Arithmetic of the torch line as written, per workload; 0 without an oracle.
  double written_operations(std::size_t workload) const;
};

// What to add to a message that names check sizes which nobody declared: that they were picked, and the line that names
// others. Empty where the message is about none of them.
std::string picked_sizes_hint(const Task& task, std::string_view message);

// Reads and checks a task. `overrides` are `--set N=64`: they replace size values of every workload. Throws
// base::Error(bad_input) with rendered diagnostics: no directives (says `cudal1 init`), no launch, no output, shapes of
// the torch line that do not fit the declared outputs, sizes that overflow or need more than `memory_limit` bytes.
Task load(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides = {},
          std::size_t memory_limit = std::size_t{256} << 30);
Task from_source(std::string source, const std::filesystem::path& path,
                 const std::map<std::string, std::int64_t>& overrides = {},
                 std::size_t memory_limit = std::size_t{256} << 30);

}  // namespace cudal1::task
