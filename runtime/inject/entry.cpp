// SPDX-License-Identifier: Apache-2.0
// What the driver calls in a program that is recorded on a GPU: it loads this library by CUDA_INJECTION64_PATH.
#include "libraries.hpp"
#include "recorder.hpp"
#include "times.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

using namespace cudal1::runtime;

namespace {

template <typename Parameters>
ObservedCall plain_call(const void* parameters) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  ObservedCall call;
  call.function = p.f;
  call.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  call.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  call.shared_bytes = p.sharedMemBytes;
  call.stream = p.hStream;
  call.parameters = p.kernelParams;
  return call;
}

ObservedCall extended_call(const void* parameters) {
  const auto& p = *static_cast<const cuLaunchKernelEx_params*>(parameters);
  const CUlaunchConfig& config = *p.config;
  ObservedCall call;
  call.function = p.f;
  call.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  call.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  call.shared_bytes = config.sharedMemBytes;
  call.stream = config.hStream;
  call.parameters = p.kernelParams;
  call.extra = p.extra;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) call.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& extent = attribute.value.clusterDim;
      call.cluster = extent.x * extent.y * extent.z > 1;
    }
  }
  return call;
}

// The stream that 0 means where a program is built with a default stream for each thread.
CUstream own_stream(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

bool read_call(CUpti_CallbackId id, const void* parameters, ObservedCall& call) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      call = plain_call<cuLaunchKernel_params>(parameters);
      call.extra = static_cast<const cuLaunchKernel_params*>(parameters)->extra;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      call = plain_call<cuLaunchCooperativeKernel_params>(parameters);
      call.cooperative = true;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: call = extended_call(parameters); break;
    default: return false;
  }
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
      id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz)
    call.stream = own_stream(call.stream);
  return true;
}

constexpr CUpti_CallbackId launches[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (id != CUPTI_CBID_RESOURCE_MODULE_LOADED) return;
    const auto& resource = *static_cast<const CUpti_ResourceData*>(data);
    const auto* const module = static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor);
    if (module != nullptr && module->pCubin != nullptr) Recorder::get().add_module({module->pCubin, module->cubinSize});
    return;
  }
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz) {
    if (call.callbackSite == CUPTI_API_ENTER) Recorder::get().graph();
    return;
  }
  if (call.callbackSite == CUPTI_API_EXIT) {
    const auto* const result = static_cast<const CUresult*>(call.functionReturnValue);
    return Recorder::get().returned(result == nullptr || *result == CUDA_SUCCESS);
  }
  ObservedCall launch;
  if (read_call(id, call.functionParams, launch)) Recorder::get().entered(launch, call.symbolName);
}

void end() { Recorder::get().finish(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static bool done = false;
  if (std::exchange(done, true) || std::getenv(wire::socket_variable) == nullptr) return 1;
  Recorder& recorder = Recorder::get();
  const Cupti& library = cupti();
  if (!library.problem.empty()) return recorder.problem(library.problem), 1;
  CUpti_SubscriberHandle subscriber = nullptr;
  if (const CUptiResult result = library.subscribe(&subscriber, called, nullptr); result != CUPTI_SUCCESS) {
    recorder.problem("CUPTI cannot watch this program's launches (is another profiler attached?): " + library.text(result));
    return 1;
  }
  for (const CUpti_CallbackId id : launches) library.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  const auto wanted = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return value == nullptr || std::string_view(value) != "0";
  };
  // A library of kernels has modules of many megabytes, which CUPTI has to fetch from the driver.
  if (wanted(wire::task_variable)) library.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  const bool timed = wanted(wire::times_variable);
  if (const std::string why = timed ? Times::start() : std::string(); !why.empty()) recorder.problem("CUPTI gives no times of kernels: " + why);
  std::atexit(end);
  return 1;
}
