// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace cudal1::cli {

// A completion script for "bash", "zsh" or "fish", made by walking the tree. An option whose value is written
// `auto|cuda:N|sim` completes its words (as far as they are fixed: "cuda:"), FILE, DIR and their like complete files.
std::string completion_script(const CLI::App& root, const std::string& shell);

}  // namespace cudal1::cli
