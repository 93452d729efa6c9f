// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/run.hpp"

#include <string>
#include <string_view>

namespace cudal1::report {

// Everything that a model or a user wrote passes through here, so that no text becomes markup.
std::string escaped(std::string_view text);

// Every variant, round by round: what it was shown, what became of it, and, opened, its source with the busiest lines marked.
std::string variants_html(const store::Run& run);

}  // namespace cudal1::report
