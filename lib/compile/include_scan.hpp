// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::compile {

// The first #include of a source that could reach a file outside the allowed folders: an absolute name, one with "..",
// a quoted one that is neither embedded nor in a folder, or one made by a macro. The sandbox denies the reading anyway;
// this says so with a line, and is the only guard under --no-sandbox, so it errs on the strict side: splices, comments and
// digraphs hide nothing from it, and an #include in a comment or string counts too.
std::optional<base::Diagnostic> find_bad_include(const std::string& source, const std::string& name,
                                                 const std::vector<std::filesystem::path>& folders);

}  // namespace cudal1::compile
