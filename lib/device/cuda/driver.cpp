// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver.hpp"

#include "base/error.hpp"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace cudal1::cuda {

namespace {

Driver* open_driver() {
  auto* driver = new Driver;
  // Lazy loading would put the loading of a kernel into its first timed launch.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const char* const names[] = {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"};
  void* library = nullptr;
  for (const char* name : names) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    driver->path = name;
    break;
  }
  if (library == nullptr) {
    driver->problem =
        "no NVIDIA driver (libcuda.so.1) was found; install the driver, or use --device sim to predict times without a GPU";
    return driver;
  }
#define CUDAL1_ROW(member, symbol, ...)                                                              \
  driver->member = reinterpret_cast<std::add_pointer_t<__VA_ARGS__>>(::dlsym(library, symbol));      \
  if (driver->member == nullptr && driver->problem.empty())                                          \
    driver->problem = "the NVIDIA driver is too old: " symbol " is missing; driver 520 or newer is needed";
  CUDAL1_DRIVER_FUNCTIONS(CUDAL1_ROW)
#undef CUDAL1_ROW
  if (driver->problem.empty()) {
    const CUresult status = driver->init(0);
    if (status != CUDA_SUCCESS)
      driver->problem = fmt::format("the NVIDIA driver finds no usable GPU ({}); use --device sim to predict times without one",
                                    driver->describe(status));
  }
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver* const instance = open_driver();
  return *instance;
}

std::string Driver::describe(CUresult status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (get_error_name(status, &name) != CUDA_SUCCESS || name == nullptr) return fmt::format("CUDA error {}", static_cast<int>(status));
  if (get_error_string(status, &text) != CUDA_SUCCESS || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

void Driver::require(CUresult status, const char* what) const {
  if (status == CUDA_SUCCESS) return;
  if (status == CUDA_ERROR_OUT_OF_MEMORY)
    throw base::Error(base::Fault::no_memory,
                      fmt::format("{}: the GPU's memory is exhausted; use smaller sizes (--set) or stop other programs on it", what));
  throw base::Error(base::Fault::no_device, fmt::format("{}: {}", what, describe(status)));
}

}  // namespace cudal1::cuda
