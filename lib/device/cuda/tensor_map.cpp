// SPDX-License-Identifier: Apache-2.0
#include "cuda/tensor_map.hpp"

#include "cuda/driver.hpp"

#include <array>

#include <dlfcn.h>
#include <fmt/format.h>

namespace cudal1::cuda {

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// Not in the table of the driver's functions: a driver older than 12.0 does without it.
Encode encoder() {
  static const auto found = [] {
    void* const library = driver().path.empty() ? nullptr : ::dlopen(driver().path.c_str(), RTLD_NOW | RTLD_LOCAL);
    using Lookup = CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
    auto* const lookup = library == nullptr ? nullptr : reinterpret_cast<Lookup*>(::dlsym(library, "cuGetProcAddress_v2"));
    void* function = nullptr;
    if (lookup == nullptr || lookup("cuTensorMapEncodeTiled", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) != CUDA_SUCCESS) function = nullptr;
    return reinterpret_cast<Encode>(function);
  }();
  return found;
}

CUtensorMapDataType type_of(kernel::TensorMapArgument::Element element) {
  using Element = kernel::TensorMapArgument::Element;
  switch (element) {
    case Element::uint8: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case Element::uint16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case Element::uint32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case Element::int32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case Element::uint64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case Element::int64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case Element::float16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Element::float32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Element::float64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case Element::bfloat16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Element::tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzle_of(unsigned bytes) {
  return bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE;
}

}  // namespace

tl::expected<CUtensorMap, std::string> encode(const kernel::TensorMapArgument& map, CUdeviceptr address) {
  if (encoder() == nullptr) return tl::unexpected(std::string("the NVIDIA driver has no tensor maps; driver 525 or newer is needed"));
  std::array<cuuint64_t, 5> extents{}, strides{};
  std::array<cuuint32_t, 5> box{}, steps{1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < map.extents.size(); ++i) {
    extents[i] = map.extents[i];
    box[i] = map.box[i];
    if (i > 0) strides[i - 1] = map.strides[i - 1];
  }
  CUtensorMap encoded;
  const CUresult status = encoder()(&encoded, type_of(map.element), static_cast<cuuint32_t>(map.extents.size()), reinterpret_cast<void*>(address), extents.data(),
                                    strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(map.swizzle),
                                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) return tl::unexpected(fmt::format("the driver refuses a tensor map: {}", driver().describe(status)));
  return encoded;
}

}  // namespace cudal1::cuda
