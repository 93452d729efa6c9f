// SPDX-License-Identifier: Apache-2.0
// The one device, its streams, in which everything happens at once, and events.
#include "connection.hpp"
#include "errors.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <cuda_profiler_api.h>

using namespace cudal1::runtime;

namespace {

const wire::HelloReply& device() { return Connection::get().device(); }

struct Event {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};
Event* event_of(cudaEvent_t event) { return reinterpret_cast<Event*>(event); }

constexpr int most_threads = 1024, warp = 32;
constexpr std::size_t default_shared = 48 << 10, constant_bytes = 64 << 10;

cudaError_t new_stream(cudaStream_t* stream) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return keep(cudaSuccess);
}
cudaError_t new_event(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return keep(cudaSuccess);
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, keep(cudaSuccess); }
cudaError_t cudaGetDevice(int* which) { return *which = 0, keep(cudaSuccess); }
cudaError_t cudaSetDevice(int which) { return keep(which == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaChooseDevice(int* which, const cudaDeviceProp*) { return *which = 0, keep(cudaSuccess); }
cudaError_t cudaInitDevice(int, unsigned int, unsigned int) { return keep(cudaSuccess); }
cudaError_t cudaSetDeviceFlags(unsigned int) { return keep(cudaSuccess); }
cudaError_t cudaGetDeviceFlags(unsigned int* flags) { return *flags = 0, keep(cudaSuccess); }
cudaError_t cudaDeviceSynchronize() { return keep(cudaSuccess); }
cudaError_t cudaDeviceReset() { return keep(cudaSuccess); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return keep(cudaSuccess); }
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) { return *value = limit == cudaLimitStackSize ? 1024 : 8 << 20, keep(cudaSuccess); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return keep(cudaSuccess); }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) { return *config = cudaFuncCachePreferNone, keep(cudaSuccess); }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return keep(cudaSuccess); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) { return *config = cudaSharedMemBankSizeFourByte, keep(cudaSuccess); }
cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) { return keep(cudaSuccess); }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, keep(cudaSuccess); }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return keep(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = 0, keep(cudaSuccess); }
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int) { return std::snprintf(id, static_cast<std::size_t>(bytes), "0000:00:00.0"), keep(cudaSuccess); }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, keep(cudaSuccess); }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, keep(cudaSuccess); }
cudaError_t cudaProfilerStart() { return keep(cudaSuccess); }
cudaError_t cudaProfilerStop() { return keep(cudaSuccess); }
cudaError_t cudaCtxResetPersistingL2Cache() { return keep(cudaSuccess); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int which) {
  if (which != 0) return keep(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "NVIDIA %s (simulated by cudal1)", device().name);
  properties->totalGlobalMem = device().memory_bytes;
  properties->sharedMemPerBlock = default_shared;
  properties->sharedMemPerBlockOptin = device().shared_optin;
  properties->sharedMemPerMultiprocessor = device().shared_per_sm;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = warp;
  properties->memPitch = 0x7fffffff;
  properties->maxThreadsPerBlock = most_threads;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = most_threads;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7fffffff;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = constant_bytes;
  properties->major = device().major;
  properties->minor = device().minor;
  properties->multiProcessorCount = device().sm_count;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->l2CacheSize = static_cast<int>(device().l2_bytes);
  properties->memoryBusWidth = device().bus_bits;
  properties->unifiedAddressing = properties->managedMemory = properties->concurrentKernels = properties->canMapHostMemory = 1;
  properties->cooperativeLaunch = properties->concurrentManagedAccess = 1;
  properties->asyncEngineCount = 1;
  properties->textureAlignment = properties->texturePitchAlignment = properties->surfaceAlignment = 512;
  properties->tccDriver = 0;
#if CUDART_VERSION < 13000
  properties->clockRate = device().clock_khz;
  properties->memoryClockRate = device().memory_clock_khz;
#endif
  return keep(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int which) {
  if (which != 0) return keep(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = most_threads; break;
    case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *value = most_threads; break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = default_shared; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(device().shared_optin); break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(device().shared_per_sm); break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = 1024; break;
    case cudaDevAttrTotalConstantMemory: *value = constant_bytes; break;
    case cudaDevAttrWarpSize: *value = warp; break;
    case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
    case cudaDevAttrClockRate: *value = device().clock_khz; break;
    case cudaDevAttrMemoryClockRate: *value = device().memory_clock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = device().bus_bits; break;
    case cudaDevAttrL2CacheSize: *value = static_cast<int>(device().l2_bytes); break;
    case cudaDevAttrMultiProcessorCount: *value = device().sm_count; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = 32; break;
    case cudaDevAttrComputeCapabilityMajor: *value = device().major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = device().minor; break;
    case cudaDevAttrCooperativeLaunch: case cudaDevAttrManagedMemory: case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrUnifiedAddressing: case cudaDevAttrConcurrentKernels: case cudaDevAttrCanMapHostMemory: case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: *value = 0; break;
  }
  return keep(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return new_stream(stream); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) { return new_stream(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int, int) { return new_stream(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return keep(cudaSuccess); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return keep(cudaSuccess); }
cudaError_t cudaStreamQuery(cudaStream_t) { return keep(cudaSuccess); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int) { return keep(cudaSuccess); }
cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned int* flags) { return *flags = 0, keep(cudaSuccess); }
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) { return *priority = 0, keep(cudaSuccess); }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) { return *status = cudaStreamCaptureStatusNone, keep(cudaSuccess); }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return keep(cudaSuccess); }

cudaError_t cudaEventCreate(cudaEvent_t* event) { return new_event(event); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) { return new_event(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event_of(event), keep(cudaSuccess); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return keep(cudaErrorInvalidResourceHandle);
  event_of(event)->time = std::chrono::steady_clock::now();
  return keep(cudaSuccess);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) { return cudaEventRecord(event, stream); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return keep(cudaSuccess); }
cudaError_t cudaEventQuery(cudaEvent_t) { return keep(cudaSuccess); }
// The simulation's own time: it says nothing about a GPU.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  if (from == nullptr || to == nullptr) return keep(cudaErrorInvalidResourceHandle);
  *ms = std::max(1e-3F, std::chrono::duration<float, std::milli>(event_of(to)->time - event_of(from)->time).count());
  return keep(cudaSuccess);
}
