// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <cuda.h>

namespace cudal1::cuda {

// The driver's functions, opened at run time so that this program starts on a machine without one. Each row: member,
// and the symbol whose version this code is written for.
#define CUDAL1_DRIVER_FUNCTIONS(row) \
  row(init, "cuInit", CUresult(unsigned)) \
  row(driver_get_version, "cuDriverGetVersion", CUresult(int*)) \
  row(device_get_count, "cuDeviceGetCount", CUresult(int*)) \
  row(device_get, "cuDeviceGet", CUresult(CUdevice*, int)) \
  row(device_get_name, "cuDeviceGetName", CUresult(char*, int, CUdevice)) \
  row(device_get_uuid, "cuDeviceGetUuid", CUresult(CUuuid*, CUdevice)) \
  row(device_total_mem, "cuDeviceTotalMem_v2", CUresult(std::size_t*, CUdevice)) \
  row(device_get_attribute, "cuDeviceGetAttribute", CUresult(int*, CUdevice_attribute, CUdevice)) \
  row(device_primary_ctx_retain, "cuDevicePrimaryCtxRetain", CUresult(CUcontext*, CUdevice)) \
  row(ctx_set_current, "cuCtxSetCurrent", CUresult(CUcontext)) \
  row(ctx_reset_persisting_l2, "cuCtxResetPersistingL2Cache", CUresult()) \
  row(mem_alloc, "cuMemAlloc_v2", CUresult(CUdeviceptr*, std::size_t)) \
  row(mem_free, "cuMemFree_v2", CUresult(CUdeviceptr)) \
  row(mem_get_address_range, "cuMemGetAddressRange_v2", CUresult(CUdeviceptr*, std::size_t*, CUdeviceptr)) \
  row(ipc_get_mem_handle, "cuIpcGetMemHandle", CUresult(CUipcMemHandle*, CUdeviceptr)) \
  row(mem_host_alloc, "cuMemHostAlloc", CUresult(void**, std::size_t, unsigned)) \
  row(mem_host_get_device_pointer, "cuMemHostGetDevicePointer_v2", CUresult(CUdeviceptr*, void*, unsigned)) \
  row(memcpy_host_to_device_async, "cuMemcpyHtoDAsync_v2", CUresult(CUdeviceptr, const void*, std::size_t, CUstream)) \
  row(memcpy_device_to_host_async, "cuMemcpyDtoHAsync_v2", CUresult(void*, CUdeviceptr, std::size_t, CUstream)) \
  row(memcpy_device_to_device_async, "cuMemcpyDtoDAsync_v2", CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream)) \
  row(memset8_async, "cuMemsetD8Async", CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream)) \
  row(memset16_async, "cuMemsetD16Async", CUresult(CUdeviceptr, unsigned short, std::size_t, CUstream)) \
  row(memset32_async, "cuMemsetD32Async", CUresult(CUdeviceptr, unsigned, std::size_t, CUstream)) \
  row(module_load_data, "cuModuleLoadData", CUresult(CUmodule*, const void*)) \
  row(module_unload, "cuModuleUnload", CUresult(CUmodule)) \
  row(module_get_function, "cuModuleGetFunction", CUresult(CUfunction*, CUmodule, const char*)) \
  row(module_get_global, "cuModuleGetGlobal_v2", CUresult(CUdeviceptr*, std::size_t*, CUmodule, const char*)) \
  row(func_set_attribute, "cuFuncSetAttribute", CUresult(CUfunction, CUfunction_attribute, int)) \
  row(launch_kernel_ex, "cuLaunchKernelEx", CUresult(const CUlaunchConfig*, CUfunction, void**, void**)) \
  row(stream_create, "cuStreamCreate", CUresult(CUstream*, unsigned)) \
  row(stream_synchronize, "cuStreamSynchronize", CUresult(CUstream)) \
  row(stream_query, "cuStreamQuery", CUresult(CUstream)) \
  row(stream_begin_capture, "cuStreamBeginCapture_v2", CUresult(CUstream, CUstreamCaptureMode)) \
  row(stream_end_capture, "cuStreamEndCapture", CUresult(CUstream, CUgraph*)) \
  row(graph_instantiate, "cuGraphInstantiateWithFlags", CUresult(CUgraphExec*, CUgraph, unsigned long long)) \
  row(graph_upload, "cuGraphUpload", CUresult(CUgraphExec, CUstream)) \
  row(graph_launch, "cuGraphLaunch", CUresult(CUgraphExec, CUstream)) \
  row(graph_exec_destroy, "cuGraphExecDestroy", CUresult(CUgraphExec)) \
  row(graph_destroy, "cuGraphDestroy", CUresult(CUgraph)) \
  row(event_create, "cuEventCreate", CUresult(CUevent*, unsigned)) \
  row(event_record, "cuEventRecord", CUresult(CUevent, CUstream)) \
  row(event_elapsed_time, "cuEventElapsedTime", CUresult(float*, CUevent, CUevent)) \
  row(event_destroy, "cuEventDestroy_v2", CUresult(CUevent)) \
  row(get_error_name, "cuGetErrorName", CUresult(CUresult, const char**)) \
  row(get_error_string, "cuGetErrorString", CUresult(CUresult, const char**))

struct Driver {
  std::string path;       // of the library
  std::string problem;    // why there is none: one sentence with the next step

#define CUDAL1_ROW(member, symbol, ...) std::add_pointer_t<__VA_ARGS__> member = nullptr;
  CUDAL1_DRIVER_FUNCTIONS(CUDAL1_ROW)
#undef CUDAL1_ROW

  std::string describe(CUresult status) const;          // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access …"
  // Throws base::Error(no_device or no_memory) that says what was tried.
  void require(CUresult status, const char* what) const;
};

// Created once and never destroyed, so that it outlives every handle.
const Driver& driver();

}  // namespace cudal1::cuda
