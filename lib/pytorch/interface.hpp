// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cudal1::pytorch {

// What a module's forward takes and gives.
struct Interface {
  struct Tensor {
    std::string name, dtype;
    std::vector<std::int64_t> shape;
    std::string path;            // of a tensor of the model's state; empty for an argument
  };
  struct Scalar {
    std::string name, dtype, value;
  };
  std::vector<Tensor> inputs, state, outputs;
  std::vector<Scalar> scalars;
  std::map<std::string, std::int64_t> constants;
  std::vector<std::string> notes;
  std::size_t bytes = 0;         // of one set of inputs, weights and outputs
  std::string torch;             // the torch line; empty: `no_torch` says why
  std::string no_torch, digest;  // of the code alone
};

// `…/level1/19_ReLU.py` is L1_19_ReLU, `gelu.py` is gelu: a name for a C function.
std::string task_name(const std::filesystem::path& path);

// The interface as directives of a kernel file, with the module's source as comment.
std::string directives(const Interface& interface, const std::filesystem::path& path, const std::string& module,
                       const std::map<std::string, std::int64_t>& overrides);

// Whether these directives, with their comment, are of this very text with these overrides. A kernel file describes itself.
bool describes(const std::string& directives, const std::string& module, const std::map<std::string, std::int64_t>& overrides);

}  // namespace cudal1::pytorch
