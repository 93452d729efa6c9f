// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::cli {

// Throws base::Error where `output` is one of `inputs`, a folder, or cannot be written: before any work is done for it.
// Empty: nothing is to be written.
void require_writable(const std::string& output, const std::vector<std::string>& inputs);

// The same for the folder that an option such as "--memory" names; it is made where it is missing.
void require_writable_folder(const std::string& option, const std::string& folder);

}  // namespace cudal1::cli
