# SPDX-License-Identifier: Apache-2.0
# Everything comes from Debian 12 by package name (README.md lists them); the CUDA Toolkit gives headers only.
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
find_package(CURL REQUIRED)
find_package(CUDAToolkit 12.0 REQUIRED)
if(CUDAL1_TESTS)
  find_package(Catch2 REQUIRED)
endif()
# NVRTC and the driver are opened at run time, so nothing of the toolkit is linked.
add_library(cudal1_cuda_headers INTERFACE)
target_include_directories(cudal1_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
