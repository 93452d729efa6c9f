// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "flashinfer/definition.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::flashinfer {

// A definition as a kernel file: constant axes are numbers in the shapes, variable ones are sizes with one workload for each of
// `workloads` that has other axes or files, `run` is the torch line, and the kernels are the plainest of the built-in model, one for each
// operation. Files of inputs are sought in `folder` and those that it lies in. Throws base::Error(bad_task).
std::string kernel_task(const Definition& definition, const std::vector<Workload>& workloads, const std::filesystem::path& path);

// At most so many of the workloads, from the smallest to the largest and evenly between; equal ones count once.
std::vector<Workload> spread(const Definition& definition, const std::vector<Workload>& workloads, std::size_t most);

// The task's name: the definition's, as a C identifier.
std::string task_name(const Definition& definition);

// Where the workloads of a definition are: workload.jsonl or workloads.jsonl beside it, or NAME.jsonl under the folder workloads/ of the
// data set that it lies in. Empty: nowhere.
std::filesystem::path workloads_of(const Definition& definition, const std::filesystem::path& path);

}  // namespace cudal1::flashinfer
