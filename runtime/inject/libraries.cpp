// SPDX-License-Identifier: Apache-2.0
#include "libraries.hpp"

#include "record/wire.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace cudal1::runtime {

namespace {

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

// A second CUPTI in one process does not work, so the program's own comes first.
void* open_cupti() {
  constexpr const char* names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char* name : names)
    if (void* loaded = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  if (const char* given = std::getenv(record::wire::cupti_variable); given != nullptr && *given != '\0')
    if (void* loaded = ::dlopen(given, RTLD_NOW | RTLD_LOCAL)) return loaded;
  for (const char* name : names)
    if (void* loaded = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return loaded;
  return nullptr;
}

}  // namespace

Driver::Driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  find(library, "cuCtxSynchronize", synchronize);
  find(library, "cuCtxGetDevice", context_device);
  find(library, "cuDeviceGetName", device_name);
  find(library, "cuPointerGetAttribute", pointer_attribute);
  find(library, "cuMemcpyDtoH_v2", copy_out);
  find(library, "cuMemcpy", copy);
  find(library, "cuStreamIsCapturing", is_capturing);
  find(library, "cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
  find(library, "cuEventCreate", event_create);
  find(library, "cuEventRecord", event_record);
  find(library, "cuEventElapsedTime_v2", event_elapsed);
  if (event_elapsed == nullptr) find(library, "cuEventElapsedTime", event_elapsed);  // before CUDA 12.8
  find(library, "cuEventDestroy_v2", event_destroy);
  find(library, "cuModuleGetGlobal_v2", global);
  find(library, "cuFuncGetParamInfo", parameter);
  find(library, "cuKernelGetParamInfo", kernel_parameter);
  find(library, "cuKernelGetFunction", kernel_function);
  find(library, "cuFuncGetModule", module);
  find(library, "cuFuncGetName", function_name);
  complete = synchronize != nullptr && pointer_attribute != nullptr && copy_out != nullptr && copy != nullptr && event_create != nullptr && event_record != nullptr &&
             event_elapsed != nullptr && global != nullptr && parameter != nullptr;
}

Cupti::Cupti() {
  void* const library = open_cupti();
  if (library == nullptr) {
    problem = "CUPTI (libcupti.so) was not found; it comes with the CUDA Toolkit: name it in CUDAL1_CUPTI";
    return;
  }
  find(library, "cuptiSubscribe", subscribe);
  find(library, "cuptiEnableCallback", enable_callback);
  find(library, "cuptiActivityRegisterCallbacks", register_activities);
  find(library, "cuptiActivityEnable", enable_activity);
  find(library, "cuptiActivityDisable", disable_activity);
  find(library, "cuptiActivityGetNextRecord", next_record);
  find(library, "cuptiActivityFlushAll", flush);
  find(library, "cuptiGetResultString", result_string);
  if (subscribe == nullptr || enable_callback == nullptr) problem = "CUPTI lacks cuptiSubscribe: that of CUDA 12.0 or newer is needed";
}

std::string Cupti::text(CUptiResult result) const {
  const char* text = nullptr;
  if (result_string == nullptr || result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) return "error " + std::to_string(static_cast<int>(result));
  return text;
}

const Driver& driver() {
  static const auto* const functions = new Driver;
  return *functions;
}

const Cupti& cupti() {
  static const auto* const functions = new Cupti;
  return *functions;
}

}  // namespace cudal1::runtime
