// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <filesystem>
#include <memory>

namespace cudal1::model {

// Writes each prompt as `r01-s02.prompt.md` and takes the reply from `r01-s02.md` beside it: a person, a chat window or
// another machine can be the model. Until the reply is there the answer is pending. A reply that lies beside another
// prompt than this one is not taken: the model is then unreachable, and the reason says what to do.
std::unique_ptr<Model> open_exchange(const std::filesystem::path& folder);

}  // namespace cudal1::model
