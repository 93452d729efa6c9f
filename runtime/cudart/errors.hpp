// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace cudal1::runtime {

// Keeps an error for cudaGetLastError() and hands it on.
cudaError_t keep(cudaError_t error);

// Says once that the program called what this runtime lacks.
cudaError_t lacks(const char* what);

}  // namespace cudal1::runtime
