// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "task/task.hpp"

#include <memory>

namespace cudal1::playbook {

// The built-in model: rules over the task's torch line and its own kernel instead of a network. The task must outlive
// it. Deterministic: equal questions get equal replies.
std::unique_ptr<model::Model> open(const task::Task& task);

}  // namespace cudal1::playbook
