// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <string>
#include <string_view>

namespace cudal1::curriculum {

// What a task computes, whatever its sizes, types, numbers and names: its torch line simplified, with inputs numbered in
// the order of their use, operands that may be exchanged in one order, and no extents or constants. Tasks of one structure
// teach the same. Without a torch line it is the text of the task's own kernel.
std::string structure(const task::Task& task);
std::string structure(const tensor::Graph& graph);

// Short name of a structure: 16 hexadecimal digits.
std::string group(const std::string& structure);

// Whether a structure is for testing alone: one in ten, by its digest, so that it does not depend on what else there is.
bool is_test(const std::string& structure);

// How much two torch lines or kernels have in common: their triples of neighbouring tokens (numbers all alike), those of both
// over those of either.
double similarity(std::string_view a, std::string_view b);

}  // namespace cudal1::curriculum
