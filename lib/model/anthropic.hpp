// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/providers.hpp"

#include <memory>
#include <string>

namespace cudal1::model {

// Anthropic's Messages, at Anthropic or at another address that speaks it.
std::unique_ptr<Model> open_anthropic(const std::string& name, const Settings& settings);

}  // namespace cudal1::model
