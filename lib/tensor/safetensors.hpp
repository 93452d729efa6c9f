// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/npy.hpp"

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cudal1::tensor {

// One tensor of a file in the format safetensors; its data point into the bytes given. The error is one sentence that says what does
// not fit.
tl::expected<NpyArray, std::string> read_safetensors(std::string_view bytes, const std::string& key);

}  // namespace cudal1::tensor
