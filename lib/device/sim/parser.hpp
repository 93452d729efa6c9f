// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "sim/module.hpp"

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cudal1::sim {

// Reads a PTX module. Opcodes are not judged here. `kernel_file` is the name whose .loc lines become source lines; a
// location in another file counts with the place it was inlined at. Every text is a module or one error with line and column.
tl::expected<Module, base::Diagnostic> parse(std::string_view ptx, const std::string& kernel_file);

}  // namespace cudal1::sim
