// SPDX-License-Identifier: Apache-2.0
#include "compile/headers.hpp"

namespace cudal1::compile {

std::span<const std::string_view> embedded_headers() {
  static constexpr std::string_view names[] = {
      "algorithm", "assert.h", "cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring",
      "cub/cub.cuh", "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_functions.h", "device_launch_parameters.h", "float.h", "hopper.cuh",
      "hopper_multiply.cuh", "limits", "limits.h", "math.h", "math_constants.h", "math_functions.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
      "string.h", "type_traits", "utility", "vector_functions.h", "vector_types.h",
  };
  return names;
}

}  // namespace cudal1::compile
