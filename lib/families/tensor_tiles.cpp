// SPDX-License-Identifier: Apache-2.0
#include "families/tensor_tiles.hpp"


#include <fmt/format.h>

namespace cudal1::families {

void use_tensor_cores(KernelFile& file, const std::string& kernel, const std::string& factors) {
  const bool exact = file.variant().exact();
  file.helper(exact ? "exact.cuh" : "rounded.cuh");
  file.helper("tf32_halves.cuh");
  file.technique(Technique::tensor_cores,
                 exact ? fmt::format("`{}` cuts {} into a high and a low half of TF32 precision; three products of them are "
                                     "as exact as one in fp32. An infinite input, or one above 4e34, gives NaN.",
                                     kernel, factors)
                       : fmt::format("`{}` multiplies {} in TF32, by the run's precision or because they have 16 bits only.", kernel, factors));
}

void use_half_tensor_cores(KernelFile& file, const std::string& kernel, tensor::Dtype dtype) {
  file.include(dtype);
  file.helper("half_tiles.cuh", {{"element", tensor::cuda_name(dtype)}, {"kind", dtype == tensor::Dtype::float16 ? "f16" : "bf16"}});
  file.technique(Technique::tensor_cores, fmt::format("`{}` multiplies factors of 16 bits as they are, and adds the products up in float.", kernel));
}

// A stage of tiles of 128 by 128 takes 36 KiB at most, of 128 by 64 27 KiB, of 64 by 64 18 KiB.
std::string tile_stages(const std::string& rows, const std::string& columns, const schedule::Machine& machine) {
  if (machine.shared_bytes_of_block >= 4 * 36 << 10) return fmt::format("({} + {} > 192 ? 3 : 4)", rows, columns);
  return fmt::format("({0} + {1} > 192 ? 2 : {0} + {1} > 128 ? 3 : 4)", rows, columns);
}

}  // namespace cudal1::families
