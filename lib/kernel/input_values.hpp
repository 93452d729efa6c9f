// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <string>
#include <vector>

namespace cudal1::kernel {

// What an input holds at an assignment of sizes: its distribution, or the default of its type, with every expression
// evaluated. Errors: an unknown name, bounds that make no sense at these sizes.
tl::expected<tensor::Distribution, base::Diagnostic> input_values(const Buffer& buffer, const Environment& environment);

// The bounds that are expressions, `randint(0, BINS)`; parsed again, as what is printed of them is kept.
std::vector<Expression> bounds(const Buffer& buffer);

}  // namespace cudal1::kernel
