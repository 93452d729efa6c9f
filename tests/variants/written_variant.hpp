// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"
#include "kernel/file.hpp"
#include "outcome/precision.hpp"
#include "torch_line.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace cudal1::variants {

// One kernel file of the built-in model for a line, with values for its tunables.
struct WrittenVariant {
  std::shared_ptr<TorchLine> line;
  std::shared_ptr<const kernel::File> file;
  kernel::Environment tunables;
  outcome::Precision precision = outcome::Precision::fp32;
  std::string name;                  // "gelu fp32: as written/fused THREADS=256"
  // A digest of each: of its text (kernel_units.hpp), of its task's directives, and of cudal1's version.
  std::vector<std::string> kernels;
};

// The variants that are asked for.
struct Wanted {
  std::string label;        // what their ids end with
  std::string holds;        // a text in their source
  int multiprocessors = 0;  // of the GPU that they are written for; 0: an H200's
};

// All that the built-in model offers for a line. Throws base::Error where it offers nothing.
std::vector<WrittenVariant> written_variants(const std::shared_ptr<TorchLine>& line, const Wanted& wanted);

// The places of variants that together have every kernel of all of them but those in `known`, few and in order. Where a choice is
// free, it falls on those in which products have to be as exact as float32.
std::vector<std::size_t> with_every_kernel(const std::vector<WrittenVariant>& all, std::unordered_set<std::string> known);

}  // namespace cudal1::variants
