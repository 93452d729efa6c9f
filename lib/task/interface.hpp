// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

namespace cudal1::task {

// As from_source(), of a text that has no launch yet: for who writes its kernel.
Task without_launch(std::string source, const std::filesystem::path& path);

}  // namespace cudal1::task
