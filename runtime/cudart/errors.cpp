// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include "connection.hpp"

#include <set>
#include <string>

namespace cudal1::runtime {

namespace {

thread_local cudaError_t last = cudaSuccess;
cudaError_t sticky = cudaSuccess;  // after a fault on the device nothing works any more, as with a GPU

struct Row {
  cudaError_t error;
  const char *name, *text;
};
constexpr Row rows[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const Row* row_of(cudaError_t error) {
  for (const Row& row : rows)
    if (row.error == error) return &row;
  return nullptr;
}

}  // namespace

cudaError_t keep(cudaError_t error) {
  if (error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure || error == cudaErrorLaunchTimeout || error == cudaErrorAssert) sticky = error;
  if (error == cudaSuccess && sticky != cudaSuccess) error = sticky;
  if (error != cudaSuccess && error != cudaErrorNotReady) last = error;
  return error;
}

cudaError_t lacks(const char* what) {
  static auto* const said = new std::set<std::string>;
  if (said->insert(what).second) Connection::get().tell(wire::Kind::missing, wire::Number{}, what);
  return keep(cudaErrorNotSupported);
}

}  // namespace cudal1::runtime

using namespace cudal1::runtime;

cudaError_t cudaGetLastError() {
  const cudaError_t error = sticky != cudaSuccess ? sticky : last;
  last = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return sticky != cudaSuccess ? sticky : last; }
const char* cudaGetErrorName(cudaError_t error) { return row_of(error) != nullptr ? row_of(error)->name : "unrecognized error code"; }
const char* cudaGetErrorString(cudaError_t error) { return row_of(error) != nullptr ? row_of(error)->text : "unrecognized error code"; }

// Called by the stubs of functions that are not written here.
extern "C" __attribute__((visibility("hidden"))) int cudal1_lacks(const char* what) { return static_cast<int>(lacks(what)); }
