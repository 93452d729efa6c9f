#include <cuda.h>
#ifndef CUDAL1_TENSOR_MAP
#define CUDAL1_TENSOR_MAP
namespace cudal1_host {
// The driver's own encoder, without linking to the driver.
inline cudaError_t tensor_map(CUtensorMap* map, CUtensorMapDataType type, unsigned rank, const void* address, const unsigned long long* extents,
                              const unsigned long long* strides, const unsigned* box, CUtensorMapSwizzle swizzle) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                              CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
#else
  cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &encode, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess) return status;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  cuuint64_t wide_extents[5], wide_strides[5];
  cuuint32_t sides[5], ones[5] = {1, 1, 1, 1, 1};
  for (unsigned i = 0; i < rank; ++i) wide_extents[i] = extents[i], wide_strides[i] = strides[i], sides[i] = box[i];
  return ((Encode)encode)(map, type, rank, (void*)address, wide_extents, wide_strides, sides, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                          CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS
             ? cudaSuccess
             : cudaErrorInvalidValue;
}
}  // namespace cudal1_host
#endif
