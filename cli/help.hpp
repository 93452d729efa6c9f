// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cudal1::cli {

// What `cudal1 help` knows besides commands: "kernel-file", "torch", …
std::vector<std::string> topic_names();

}  // namespace cudal1::cli
