// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1::compile {

// From now on this process may read files below `readable` and no others, may write none, and can neither start programs
// nor reach the network. For good: nothing takes it back. The kernel's refusals are errors like any other (EPERM,
// EACCES), so a library that asks for too much goes on. Throws base::Error(usage) when no sandbox can be had.
void confine(const std::vector<std::filesystem::path>& readable);

// The two halves, each true when the kernel took it. Without `files`, seccomp refuses to open any file.
bool confine_files(const std::vector<std::filesystem::path>& readable);  // Landlock
bool confine_calls(bool files);                                          // seccomp

}  // namespace cudal1::compile
