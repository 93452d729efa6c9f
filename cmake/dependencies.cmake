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
find_package(PkgConfig REQUIRED)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib>=0.11)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5)
if(CUDAL1_TESTS)
  find_package(Catch2 REQUIRED)
endif()

# NVRTC and the driver are opened at run time, so the toolkit gives headers and nothing is linked. CMake 3.25's own
# FindCUDAToolkit stops at toolkits without nvToolsExt, which CUDA 13 no longer has.
find_program(CUDAL1_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
get_filename_component(cuda_bin "${CUDAL1_NVCC}" DIRECTORY)
find_path(CUDAL1_CUDA_INCLUDE nvrtc.h
  HINTS ENV CUDA_PATH ENV CUDA_HOME "${cuda_bin}/.." /usr/local/cuda PATH_SUFFIXES include targets/x86_64-linux/include)
if(NOT CUDAL1_CUDA_INCLUDE OR NOT EXISTS "${CUDAL1_CUDA_INCLUDE}/cuda.h")
  message(FATAL_ERROR "The CUDA Toolkit (12.0 or newer) was not found. Install it, or set CUDA_PATH to where it lies.")
endif()
file(STRINGS "${CUDAL1_CUDA_INCLUDE}/cuda.h" cuda_version REGEX "^#define CUDA_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" cuda_version "${cuda_version}")
set(CUDAL1_CUDA_VERSION "${cuda_version}")
if(cuda_version LESS 12000)
  message(FATAL_ERROR "${CUDAL1_CUDA_INCLUDE} holds CUDA ${cuda_version}; 12.0 or newer is needed.")
endif()
add_library(cudal1_cuda_headers INTERFACE)
target_include_directories(cudal1_cuda_headers SYSTEM INTERFACE "${CUDAL1_CUDA_INCLUDE}")
