// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algebra/dag.hpp"
#include "families/kernel_file.hpp"

#include <map>
#include <set>
#include <string>

#include <tl/expected.hpp>

namespace cudal1::families {

using namespace algebra;

// What the task calls its buffers, sizes and scalars.
struct Names {
  std::set<std::string> all;
  std::map<std::string, tensor::Dtype> scalars;
};

// Cuts a dag into kernels, fusing greedily from each output towards the inputs, and writes them. `names` are those of
// the task, which generated names avoid; sizes are known at `workloads` assignments before the check sizes. Launches and tiles are made for `machine`. The error
// is one sentence: what no family covers.
tl::expected<KernelFile, std::string> compose(Dag dag, const Variant& variant, const schedule::Machine& machine, const Names& names,
                                            std::size_t workloads);

}  // namespace cudal1::families
