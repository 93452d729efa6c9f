// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <filesystem>
#include <memory>

namespace cudal1::model {

// Gives the recorded replies of a run or a reply folder again, whatever the question. Beyond the last recorded round it
// is exhausted; a reply missing before that is a refusal. Throws base::Error(usage) when the folder holds no reply.
std::unique_ptr<Model> open_replay(const std::filesystem::path& folder);

}  // namespace cudal1::model
