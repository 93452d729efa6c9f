// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <memory>
#include <string>

namespace cudal1::model {

// A program of the user's that reads the prompt on its standard input and prints the reply. `command` is split at
// spaces; no shell is involved. Up to `parallel` of it run at once. Throws base::Error(usage) when there is no such program.
std::unique_ptr<Model> open_command(const std::string& command, base::Seconds limit, int parallel = 1);

}  // namespace cudal1::model
