// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dtype.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::flashinfer {

// A definition.json of FlashInfer Trace, which SOL-ExecBench's are too: what is computed, as a Python function `run`.
struct Definition {
  struct Axis {
    enum class Kind { constant, variable, expression };
    std::string name;
    Kind kind = Kind::variable;
    std::int64_t value = 0;   // of a constant
    std::string text;         // of an expression of other axes, in Python
  };
  struct Tensor {
    std::string name;
    tensor::Dtype dtype = tensor::Dtype::float32;
    bool scalar = false;               // a Python number instead of a tensor
    std::vector<std::string> shape;    // names of axes
  };
  std::string name, reference;
  std::vector<Axis> axes;
  std::vector<Tensor> inputs, outputs;
  bool constrained = false;            // sizes cannot be chosen freely

  const Axis& axis(const std::string& name) const;
};

// One line of workloads.jsonl.
struct Workload {
  struct Input {
    enum class Kind { random, scalar, file };
    Kind kind = Kind::random;
    std::string value;                // of a scalar, as a C literal
    std::string path, key;            // of a tensor in a safetensors file
    bool operator==(const Input&) const = default;
  };
  struct Tolerance {
    double absolute = 1e-2, relative = 1e-2, matched = 1;   // the share of elements that must agree
    bool operator==(const Tolerance&) const = default;
  };
  std::string uuid;
  std::map<std::string, std::int64_t> axes;
  std::map<std::string, Input> inputs;
  std::optional<Tolerance> tolerance;  // where the workload has its own
};

// Whether a path is taken for a definition: it ends in .json.
bool is_definition(std::string_view path);

// Both throw base::Error(bad_task) that names the field and what in it is not understood: 8-bit and 4-bit floats, inputs made by a
// function of the definition's own, random scalars. `name` is the file, for messages.
Definition read_definition(std::string_view json, const std::string& name);
std::vector<Workload> read_workloads(const Definition& definition, std::string_view lines, const std::string& name);

}  // namespace cudal1::flashinfer
