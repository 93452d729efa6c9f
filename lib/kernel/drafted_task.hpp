// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"
#include "kernel/file.hpp"
#include "tensor/dtype.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::kernel {

struct DraftedBuffer {
  std::string name, key;  // key: what the host calls it
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::optional<std::string> shape;  // "[N * M]"
  std::int64_t width = 1;            // elements in one of a vector type or structure: the last extent
  std::string structure;             // of members of several types, instead of `dtype`; one of DraftedTask::structures
  std::string values;                // "randint(0, V)"; empty: as its type has it
  bool guessed = false;              // the shape
  bool input = false, output = false, scratch = false;
};

struct DraftedScalar {
  std::string name;
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::string value;
  bool guessed = false;
};

// What an ordinary .cu says about a task, before it is written down as directives.
struct DraftedTask {
  std::map<std::string, Expression> sizes;   // what the host code computes them from; an empty expression: to complete
  std::vector<Structure> structures;
  std::vector<std::string> unvalued_sizes;   // named by a kernel only
  std::vector<DraftedBuffer> buffers;
  std::vector<DraftedScalar> scalars;
  std::vector<std::pair<std::string, std::string>> copies;  // `__constant__` variable, input
  std::vector<std::pair<std::string, bool>> launches;  // text, and whether it can be read as it is
  std::vector<std::string> to_complete;                // for the user, one line each
  std::vector<std::string> guessed;                    // what the file marks as a guess, one line each
  std::vector<std::string> remarks;                    // what was done, and may be looked at

  void note(std::string text);    // into to_complete, once
  void remark(std::string text);  // into remarks, once
};

// The directives; what they leave open becomes a comment "to complete: …" and a note. `name` is the source file's.
std::string draft_directives(DraftedTask& task, const std::string& name);

}  // namespace cudal1::kernel
