// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/providers.hpp"

#include <memory>
#include <string>

namespace cudal1::model {

// Ollama's own chat: unlike its other interfaces it can be told how long the context is, and to refuse a prompt that does
// not fit instead of cutting it.
std::unique_ptr<Model> open_ollama(const std::string& name, const Settings& settings);

}  // namespace cudal1::model
