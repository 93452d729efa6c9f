// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"

namespace cudal1::kernel {

// `(N + 255) / 256` and `(N - 1) / 256 + 1` as ceil_div(N, 256), wherever they stand in the expression.
Expression with_ceil_div(const Expression& expression);

}  // namespace cudal1::kernel
