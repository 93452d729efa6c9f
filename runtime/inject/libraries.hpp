// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cuda.h>
#include <cupti.h>

namespace cudal1::runtime {

// The driver's functions, from the library that the program itself has loaded. Null: this driver is older.
struct Driver {
  decltype(&cuCtxSynchronize) synchronize = nullptr;
  decltype(&cuCtxGetDevice) context_device = nullptr;
  decltype(&cuDeviceGetName) device_name = nullptr;
  decltype(&cuPointerGetAttribute) pointer_attribute = nullptr;
  decltype(&cuMemcpyDtoH) copy_out = nullptr;
  decltype(&cuMemcpy) copy = nullptr;
  decltype(&cuStreamIsCapturing) is_capturing = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  decltype(&cuEventCreate) event_create = nullptr;
  decltype(&cuEventRecord) event_record = nullptr;
  decltype(&cuEventElapsedTime) event_elapsed = nullptr;
  decltype(&cuEventDestroy) event_destroy = nullptr;
  decltype(&cuModuleGetGlobal) global = nullptr;
  CUresult (*parameter)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;         // from CUDA 12.4 on
  CUresult (*kernel_parameter)(CUkernel, std::size_t, std::size_t*, std::size_t*) = nullptr;
  CUresult (*kernel_function)(CUfunction*, CUkernel) = nullptr;
  CUresult (*module)(CUmodule*, CUfunction) = nullptr;
  CUresult (*function_name)(const char**, CUfunction) = nullptr;
  bool complete = false;                      // all that recording takes is there

  Driver();
};

// CUPTI's, which is opened when the program's first context is made: the one that the program has loaded itself, or that
// cudal1 has found. `problem` is a sentence where there is none.
struct Cupti {
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_activities = nullptr;
  decltype(&cuptiActivityEnable) enable_activity = nullptr;
  decltype(&cuptiActivityDisable) disable_activity = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  std::string problem;

  Cupti();
  std::string text(CUptiResult result) const;
};

const Driver& driver();
const Cupti& cupti();

}  // namespace cudal1::runtime
