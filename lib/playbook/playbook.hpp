// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "outcome/precision.hpp"
#include "task/task.hpp"

#include <memory>
#include <string>

namespace cudal1::playbook {

// The built-in model: rules over the task's torch line and its own kernel instead of a network. The task must outlive
// it. Deterministic: equal questions get equal replies. `precision` is the run's.
std::unique_ptr<model::Model> open(const task::Task& task, outcome::Precision precision = outcome::Precision::fp32);

// Whether an identity that the rules know takes most of the arithmetic of the task's torch line away: then a speed-up is
// algebra's before it is a kernel's. One sentence; empty where it does not.
std::string collapse(const task::Task& task);

// The plainest kernels of a torch line: one for each operation, by no identity, as the text of an answer. A task that comes without
// kernels of its own gets them. Throws base::Error(bad_task) where the line is not covered.
std::string plain_kernels(const task::Task& task);

}  // namespace cudal1::playbook
