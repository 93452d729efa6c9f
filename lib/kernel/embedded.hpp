// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace cudal1::kernel {

std::optional<std::string_view> embedded_text(std::string_view name);

}  // namespace cudal1::kernel
