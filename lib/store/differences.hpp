// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/identity.hpp"

#include <filesystem>

namespace cudal1::store {

// Throws base::Error(usage) that names every difference between the run in a folder and the run that is asked for.
// `force` tolerates another device, driver, version, model or prompt file, but never another task, seed or sampling.
void refuse_differences(const std::filesystem::path& folder, const Identity& found, const Identity& wanted, bool force);

}  // namespace cudal1::store
