// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cudal1::cuda_code {

// Parameters of a generated kernel are named after what the task passes, and a task may use any name. So until a
// kernel's text is complete its parameters stand in it marked, alone or as the front of a longer word ("X_line").
std::string marked(const std::string& parameter);

// `code` with the marks gone: where a marked name would become some other word of the code, it gets underscores.
std::string without_marks(const std::string& code);

}  // namespace cudal1::cuda_code
