// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cudal1::kernel {

// A kernel file with other values in its size lines. Throws base::Error(usage) for a size that it does not have.
std::string with_size_values(const std::string& source, const std::map<std::string, std::int64_t>& values);

}  // namespace cudal1::kernel
