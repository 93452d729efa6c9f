// SPDX-License-Identifier: Apache-2.0
#include "cuda/profiler.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

namespace cudal1::cuda {

namespace {

using outcome::Counters;

// A metric of CUPTI: either it is what a field of Counters holds, or it has a name of ours.
struct Metric {
  const char* name;
  double Counters::* counter;
  const char* share;
  double scale;
};

constexpr double percent = 0.01;

// Together four passes over the plan on GA100, AD102 and GH100. None is relative to the elapsed time, because a counted
// execution waits for the host.
constexpr Metric metrics[] = {
    {"sm__warps_active.avg.pct_of_peak_sustained_active", nullptr, "warps_active_share", percent},
    {"smsp__issue_active.avg.pct_of_peak_sustained_active", nullptr, "issue_active_share", percent},
    {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", nullptr, "fma_pipe_share", percent},
    {"l1tex__t_sector_hit_rate.pct", nullptr, "l1_hit_share", percent},
    {"lts__t_sector_hit_rate.pct", nullptr, "l2_hit_share", percent},
    {"sm__inst_executed_pipe_tensor.sum", nullptr, "tensor_instructions", 1},
    {"sm__cycles_elapsed.avg.per_second", nullptr, "clock_per_second", 1},
    {"dram__bytes_read.sum", &Counters::dram_read_bytes, nullptr, 1},
    {"dram__bytes_write.sum", &Counters::dram_write_bytes, nullptr, 1},
    {"dram__bytes_op_read.sum", &Counters::dram_read_bytes, nullptr, 1},    // their names on consumer Blackwell
    {"dram__bytes_op_write.sum", &Counters::dram_write_bytes, nullptr, 1},
    {"lts__t_bytes.sum", &Counters::l2_bytes, nullptr, 1},
    {"smsp__inst_executed.sum", &Counters::warp_instructions, nullptr, 1},
    {"smsp__thread_inst_executed.sum", &Counters::lane_instructions, nullptr, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_requests, nullptr, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_sectors, nullptr, 1},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_requests, nullptr, 1},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_sectors, nullptr, 1},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", &Counters::shared_wavefronts, nullptr, 1},
};

}  // namespace

outcome::Counters Profiler::counters() const {
  outcome::Counters result;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (const Metric& metric = metrics[rows_[i]]; metric.counter != nullptr) result.*metric.counter = metric.scale * values_[i];
  return result;
}

std::map<std::string, double> Profiler::shares() const {
  std::map<std::string, double> result;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (const Metric& metric = metrics[rows_[i]]; metric.share != nullptr) result[metric.share] = metric.scale * values_[i];
  return result;
}

#if __has_include(<cupti_range_profiler.h>)

// Every call takes one structure; P names it.
#define CUDAL1_CUPTI_FUNCTIONS(row)                                                                \
  row(initialize, "cuptiProfilerInitialize", CUpti_Profiler_Initialize_Params)                     \
  row(device_supported, "cuptiProfilerDeviceSupported", CUpti_Profiler_DeviceSupported_Params)     \
  row(chip_name, "cuptiDeviceGetChipName", CUpti_Device_GetChipName_Params)                        \
  row(availability, "cuptiProfilerGetCounterAvailability", CUpti_Profiler_GetCounterAvailability_Params) \
  row(host_initialize, "cuptiProfilerHostInitialize", CUpti_Profiler_Host_Initialize_Params)       \
  row(host_deinitialize, "cuptiProfilerHostDeinitialize", CUpti_Profiler_Host_Deinitialize_Params) \
  row(add_metrics, "cuptiProfilerHostConfigAddMetrics", CUpti_Profiler_Host_ConfigAddMetrics_Params) \
  row(image_size, "cuptiProfilerHostGetConfigImageSize", CUpti_Profiler_Host_GetConfigImageSize_Params) \
  row(image, "cuptiProfilerHostGetConfigImage", CUpti_Profiler_Host_GetConfigImage_Params)         \
  row(pass_count, "cuptiProfilerHostGetNumOfPasses", CUpti_Profiler_Host_GetNumOfPasses_Params)    \
  row(evaluate, "cuptiProfilerHostEvaluateToGpuValues", CUpti_Profiler_Host_EvaluateToGpuValues_Params) \
  row(enable, "cuptiRangeProfilerEnable", CUpti_RangeProfiler_Enable_Params)                       \
  row(disable, "cuptiRangeProfilerDisable", CUpti_RangeProfiler_Disable_Params)                    \
  row(data_size, "cuptiRangeProfilerGetCounterDataSize", CUpti_RangeProfiler_GetCounterDataSize_Params) \
  row(data_initialize, "cuptiRangeProfilerCounterDataImageInitialize", CUpti_RangeProfiler_CounterDataImage_Initialize_Params) \
  row(set_config, "cuptiRangeProfilerSetConfig", CUpti_RangeProfiler_SetConfig_Params)             \
  row(start, "cuptiRangeProfilerStart", CUpti_RangeProfiler_Start_Params)                          \
  row(stop, "cuptiRangeProfilerStop", CUpti_RangeProfiler_Stop_Params)                             \
  row(push, "cuptiRangeProfilerPushRange", CUpti_RangeProfiler_PushRange_Params)                   \
  row(pop, "cuptiRangeProfilerPopRange", CUpti_RangeProfiler_PopRange_Params)                      \
  row(decode, "cuptiRangeProfilerDecodeData", CUpti_RangeProfiler_DecodeData_Params)

struct Profiler::Library {
  std::string problem;
#define CUDAL1_ROW(member, symbol, params) CUptiResult (*member)(params*) = nullptr;
  CUDAL1_CUPTI_FUNCTIONS(CUDAL1_ROW)
#undef CUDAL1_ROW
  CUptiResult (*result_string)(CUptiResult, const char**) = nullptr;

  Library() {
    void* library = nullptr;
    for (const std::string& place : places()) {
      library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) {
      problem = "CUPTI (libcupti.so) was not found; it comes with the CUDA Toolkit";
      return;
    }
#define CUDAL1_ROW(member, symbol, params)                                                    \
  member = reinterpret_cast<CUptiResult (*)(params*)>(::dlsym(library, symbol));              \
  if (member == nullptr) problem = "CUPTI is too old: " symbol " is missing; that of CUDA 12.6 or newer is needed";
    CUDAL1_CUPTI_FUNCTIONS(CUDAL1_ROW)
#undef CUDAL1_ROW
    result_string = reinterpret_cast<decltype(result_string)>(::dlsym(library, "cuptiGetResultString"));
  }

  static std::vector<std::string> places() {
    if (const char* given = std::getenv("CUDAL1_CUPTI")) return {given};
    std::vector<std::string> result;
    if (const char* path = std::getenv("CUDA_PATH"))
      for (const char* folder : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"})
        result.push_back(std::string(path) + folder + "libcupti.so");
    for (const char* place : {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                              "/usr/local/cuda/lib/libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"})
      result.emplace_back(place);
    return result;
  }
};

// What one set of metrics needs, made once for a context.
struct Profiler::Session {
  CUpti_Profiler_Host_Object* host = nullptr;
  CUpti_RangeProfiler_Object* range = nullptr;
  std::vector<std::uint8_t> available, config, data;
  std::vector<const char*> names;
};

// A parameter structure as CUPTI wants it: zeroed but for its own size.
#define CUDAL1_PARAMETERS(type, name) \
  type name{};                        \
  name.structSize = type##_STRUCT_SIZE

bool Profiler::fail(const char* step, int status) {
  const char* text = nullptr;
  const auto result = static_cast<CUptiResult>(status);
  if (library_->result_string == nullptr || library_->result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "";
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    problem_ = "this user may not read the GPU's counters; run as root, or have the driver's NVreg_RestrictProfilingToAdminUsers set to 0";
  else
    problem_ = fmt::format("the GPU's counters cannot be read: {}: {} ({})", step, text, status);
  return false;
}

#define CUDAL1_TRY(member, params)                                                  \
  if (const CUptiResult status = library_->member(&(params)); status != CUPTI_SUCCESS) \
    return fail(#member, static_cast<int>(status));

Profiler::Profiler(CUcontext context, std::size_t device_index) : library_(std::make_unique<Library>()), context_(context) {
  problem_ = library_->problem;
  if (!problem_.empty()) return;
  CUDAL1_PARAMETERS(CUpti_Profiler_Initialize_Params, initialize);
  if (const CUptiResult status = library_->initialize(&initialize); status != CUPTI_SUCCESS) {
    fail("initialize", static_cast<int>(status));
    return;
  }
  CUDAL1_PARAMETERS(CUpti_Profiler_DeviceSupported_Params, supported);
  supported.cuDevice = static_cast<CUdevice>(device_index);
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (library_->device_supported(&supported) != CUPTI_SUCCESS || supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    problem_ = "this GPU, or how it is shared, does not let its counters be read";
    return;
  }
  CUDAL1_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = device_index;
  if (const CUptiResult status = library_->chip_name(&chip); status != CUPTI_SUCCESS) fail("chip_name", static_cast<int>(status));
  else configure(chip.pChipName);
}

bool Profiler::configure(const char* chip) {
  session_ = std::make_unique<Session>();
  Session& s = *session_;
  CUDAL1_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, availability);
  availability.ctx = context_;
  CUDAL1_TRY(availability, availability)
  s.available.resize(availability.counterAvailabilityImageSize);
  availability.pCounterAvailabilityImage = s.available.data();
  CUDAL1_TRY(availability, availability)

  const auto open_host = [&] {
    CUDAL1_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, host);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip;
    host.pCounterAvailabilityImage = s.available.data();
    const CUptiResult status = library_->host_initialize(&host);
    s.host = host.pHostObject;
    return status;
  };
  const auto close_host = [&] {
    CUDAL1_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, host);
    host.pHostObject = s.host;
    library_->host_deinitialize(&host);
    s.host = nullptr;
  };
  const auto add = [&](const char** names, std::size_t count) {
    CUDAL1_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, added);
    added.pHostObject = s.host;
    added.ppMetricNames = names;
    added.numMetrics = count;
    return library_->add_metrics(&added);
  };
  // One metric that a chip does not know would spoil the set: each is tried alone first.
  for (std::size_t row = 0; row < std::size(metrics); ++row) {
    if (const CUptiResult status = open_host(); status != CUPTI_SUCCESS) return fail("host_initialize", static_cast<int>(status));
    const char* name = metrics[row].name;
    if (add(&name, 1) == CUPTI_SUCCESS) {
      rows_.push_back(row);
      s.names.push_back(name);
    }
    close_host();
  }
  if (s.names.empty()) {
    problem_ = fmt::format("CUPTI knows no counters of this GPU ({})", chip);
    return false;
  }
  if (const CUptiResult status = open_host(); status != CUPTI_SUCCESS) return fail("host_initialize", static_cast<int>(status));
  if (const CUptiResult status = add(s.names.data(), s.names.size()); status != CUPTI_SUCCESS)
    return fail("add_metrics", static_cast<int>(status));
  CUDAL1_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = s.host;
  CUDAL1_TRY(image_size, size)
  s.config.resize(size.configImageSize);
  CUDAL1_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = s.host;
  image.configImageSize = s.config.size();
  image.pConfigImage = s.config.data();
  CUDAL1_TRY(image, image)
  CUDAL1_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = s.config.size();
  passes.pConfigImage = s.config.data();
  CUDAL1_TRY(pass_count, passes)
  passes_ = passes.numOfPasses;

  CUDAL1_PARAMETERS(CUpti_RangeProfiler_Enable_Params, enable);
  enable.ctx = context_;
  CUDAL1_TRY(enable, enable)
  s.range = enable.pRangeProfilerObject;
  return true;
}

bool Profiler::count(const std::function<void()>& prepare, const std::function<void()>& run) {
  if (!problem_.empty()) return false;
  Session& s = *session_;
  values_.clear();
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = s.range;
  size.pMetricNames = s.names.data();
  size.numMetrics = s.names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  CUDAL1_TRY(data_size, size)
  s.data.assign(size.counterDataSize, 0);
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data);
  data.pRangeProfilerObject = s.range;
  data.counterDataSize = s.data.size();
  data.pCounterData = s.data.data();
  CUDAL1_TRY(data_initialize, data)
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = s.range;
  config.configSize = s.config.size();
  config.pConfig = s.config.data();
  config.counterDataImageSize = s.data.size();
  config.pCounterDataImage = s.data.data();
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  CUDAL1_TRY(set_config, config)

  CUDAL1_PARAMETERS(CUpti_RangeProfiler_Start_Params, start);
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_Stop_Params, stop);
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_PushRange_Params, push);
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_PopRange_Params, pop);
  start.pRangeProfilerObject = stop.pRangeProfilerObject = push.pRangeProfilerObject = pop.pRangeProfilerObject = s.range;
  push.pRangeName = "plan";
  for (std::size_t pass = 0; pass < 4 * passes_ && stop.isAllPassSubmitted == 0; ++pass) {
    prepare();
    CUDAL1_TRY(start, start)
    CUDAL1_TRY(push, push)
    run();
    CUDAL1_TRY(pop, pop)
    CUDAL1_TRY(stop, stop)
  }
  CUDAL1_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, decode);
  decode.pRangeProfilerObject = s.range;
  CUDAL1_TRY(decode, decode)

  std::vector<double> values(s.names.size());
  CUDAL1_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
  evaluate.pHostObject = s.host;
  evaluate.pCounterDataImage = s.data.data();
  evaluate.counterDataImageSize = s.data.size();
  evaluate.rangeIndex = 0;
  evaluate.ppMetricNames = s.names.data();
  evaluate.numMetrics = s.names.size();
  evaluate.pMetricValues = values.data();
  CUDAL1_TRY(evaluate, evaluate)
  values_ = std::move(values);
  return true;
}

Profiler::~Profiler() {
  if (!session_) return;
  if (session_->range != nullptr) {
    CUDAL1_PARAMETERS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = session_->range;
    library_->disable(&disable);
  }
  if (session_->host != nullptr) {
    CUDAL1_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, host);
    host.pHostObject = session_->host;
    library_->host_deinitialize(&host);
  }
}

#else

struct Profiler::Library {};
struct Profiler::Session {};
Profiler::Profiler(CUcontext context, std::size_t)
    : context_(context), problem_("this cudal1 was built without CUPTI's headers; those of CUDA 12.6 or newer are needed") {}
Profiler::~Profiler() = default;
bool Profiler::count(const std::function<void()>&, const std::function<void()>&) { return false; }

#endif

}  // namespace cudal1::cuda
