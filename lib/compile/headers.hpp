// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace cudal1::compile {

// Stand-ins for headers that models habitually include and NVRTC does not have (lib/compile/headers). Headers that need
// the toolkit's include folder are not among them: cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, mma.h, cooperative_groups.h,
// cuda_pipeline.h, curand_kernel.h, cuda/… and cub/… but for cub/cub.cuh, which stands for what device code has of it.
std::span<const std::string_view> embedded_headers();

// The text of one, by its file's name. Generated from the files by embed_texts.
std::optional<std::string_view> embedded_text(std::string_view name);

}  // namespace cudal1::compile
